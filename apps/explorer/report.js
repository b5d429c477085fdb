"use strict";

// What a case's dots say when they are pointed at.
const texts = {};
function describe(trace) {
    if (trace.meta === undefined) return;
    texts[trace.meta] ??=
        JSON.parse(document.getElementById(`candidates-${trace.meta}`).textContent);
    trace.text = trace.text.map(place => texts[trace.meta][place]);
}

// A figure is drawn when it comes near the window: a sweep of a network has hundreds.
function draw(place) {
    const figure = JSON.parse(place.nextElementSibling.textContent);
    figure.data.forEach(describe);
    Plotly.newPlot(place, figure.data, figure.layout, {displayModeBar: false, responsive: true})
        .then(() => { place.dataset.drawn = ""; });
}
const near = new IntersectionObserver(entries => {
    for (const {isIntersecting, target} of entries) {
        if (!isIntersecting) continue;
        near.unobserve(target);
        draw(target);
    }
}, {rootMargin: "1000px"});
document.querySelectorAll("div.plot").forEach(place => near.observe(place));

for (const table of document.querySelectorAll("table.sortable")) {
    const body = table.tBodies[0];
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => head.addEventListener("click", () => {
        const numbers = head.dataset.sort === "number";
        const descending = head.getAttribute("aria-sort") === "ascending";
        const key = row => row.cells[column].dataset.value ?? row.cells[column].textContent;
        const order = (a, b) => numbers ? key(a) - key(b) : key(a).localeCompare(key(b));
        // What has no number stands last, either way.
        const missing = row => numbers && key(row) === "";
        const rows = [...body.rows].sort((a, b) =>
            missing(a) - missing(b) || (descending ? order(b, a) : order(a, b)));
        heads.forEach(other => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", descending ? "descending" : "ascending");
        body.append(...rows);
    }));
    const filter = table.closest("section").querySelector(".filter");
    if (!filter) continue;
    const [words, status] = [filter.querySelector("input"), filter.querySelector("select")];
    const count = filter.querySelector("span");
    const show = () => {
        const wanted = words.value.toLowerCase().split(/\s+/);
        let shown = 0;
        for (const row of body.rows) {
            const text = row.textContent.toLowerCase();
            row.hidden = !wanted.every(word => text.includes(word)) ||
                (status.value !== "" && row.dataset.status !== status.value);
            shown += !row.hidden;
        }
        count.textContent = `${shown} of ${body.rows.length}`;
    };
    words.addEventListener("input", show);
    status.addEventListener("change", show);
    show();
}
