// Tabs: the part after # names a section, or something in one.
const sections = document.querySelectorAll("main > section");

function choose() {
    const aim = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const section = aim?.closest("main > section") ?? sections[0];
    for (const other of sections) other.classList.toggle("chosen", other === section);
    for (const link of document.querySelectorAll("nav a"))
        link.classList.toggle("chosen", link.hash === "#" + section.id);
    for (const line of document.querySelectorAll(".aimed")) line.classList.remove("aimed");
    if (!aim || aim === section) return scrollTo(0, 0);
    aim.classList.add("aimed");
    aim.scrollIntoView();
}

const header = document.querySelector("header");
new ResizeObserver(() => {
    document.documentElement.style.setProperty("--header", header.offsetHeight + "px");
}).observe(header);

for (const button of document.querySelectorAll("button.copy"))
    button.addEventListener("click", () => {
        navigator.clipboard.writeText(document.getElementById(button.dataset.of).textContent);
        button.textContent = "copied";
    });

addEventListener("hashchange", choose);
choose();
