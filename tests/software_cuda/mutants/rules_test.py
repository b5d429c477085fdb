"""What is called the same, and mutants beside it that must not be."""

import unittest

from host import Host
from program import Code
from same_program import is_the_same

PARAMETERS = {"n": "k_param_0", "m": "k_param_1", "flag": "k_param_2", "p": "k_param_3"}


def code_of(body, host=None):
    """{n}, {m}: whole numbers that the kernel is called with; {p}: an address."""
    lines = [".visible .entry k(", ")", "{", *body.format(**PARAMETERS).splitlines(), "}"]
    return Code([line.strip() for line in lines], "k", host)


class Rules(unittest.TestCase):
    def expect(self, code, before, **changes):
        """Of a line, whether it may become another."""
        line = next(n for n, text in code.lines.items() if text == before)
        for after, same in changes.values():
            with self.subTest(before=before, after=after):
                self.assertEqual(is_the_same(code, line, before, after), same)

    # A thread at r1 = 256 * block + thread that has element 4 * r1 and the next three, where they
    # are below n, and comes here where they are not all.
    TAIL = """
        ld.param.b32 %r19, [{n}];
        max.s32 %r9, %r19, 0;
        ld.param.b64 %rd1, [{p}];
        mov.u32 %r1, %ctaid.x;
        mov.u32 %r2, %tid.x;
        shl.b32 %r3, %r1, 8;
        add.s32 %r4, %r3, %r2;
        shl.b32 %r5, %r4, 2;
        add.s32 %r6, %r5, 4;
        setp.gt.s32 %p1, %r6, %r9;
        @%p1 bra $tail;
        ret;
        $tail:
        ld.global.b32 %r10, [%rd1];
        ld.global.b32 %r11, [%rd1+4];
        setp.lt.f32 %p2, %r10, %r11;
        selp.f32 %r12, %r10, %r11, %p2;
        setp.gt.f32 %p3, %r10, %r11;
        selp.f32 %r13, %r10, %r11, %p3;
        or.b32 %r7, %r5, 1;
        sub.s32 %r8, %r9, %r7;
        setp.lt.s32 %p4, %r8, 2;
        @%p4 bra $third;
        st.global.b32 [%rd1+8], %r12;
        $third:
        setp.lt.s32 %p5, %r8, 3;
        @%p5 bra $end;
        st.global.b32 [%rd1+12], %r13;
        $end:
        ret;"""

    def test_what_a_tail_never_stores(self):
        code = code_of(self.TAIL)
        self.expect(code, "selp.f32 %r13, %r10, %r11, %p3;", a=("mov.b32 %r13, %r10;", True))
        self.expect(code, "setp.gt.f32 %p3, %r10, %r11;", a=("setp.eq.u32 %p3, 0, 0;", True))
        self.expect(code, "selp.f32 %r12, %r10, %r11, %p2;", a=("mov.b32 %r12, %r10;", False))
        # Without the way there it may be stored.
        code = code_of(self.TAIL.replace("@%p1 bra $tail;\n        ret;", ""))
        self.expect(code, "selp.f32 %r13, %r10, %r11, %p3;", a=("mov.b32 %r13, %r10;", False))

    def test_coordinates_have_31_bits(self):
        body = """
            ld.param.b64 %rd1, [{p}];
            ld.param.b32 %r9, [{n}];
            mov.u32 %r1, %ctaid.x;
            shl.b32 %r2, %r1, 3;
            max.s32 %r3, %r2, 0;
            add.s32 %r4, %r2, %r9;
            max.s32 %r5, %r4, 0;
            st.global.b32 [%rd1], %r3;
            st.global.b32 [%rd1+4], %r5;
            ret;"""
        code = code_of(body)
        self.expect(code, "max.s32 %r3, %r2, 0;", a=("mov.b32 %r3, %r2;", True),
                    b=("mov.b32 %r3, 0;", False))
        self.expect(code, "max.s32 %r5, %r4, 0;", a=("mov.b32 %r5, %r4;", False))

    def test_what_is_not_run_has_any_number_of_bits(self):
        # Where it is not small enough, the store is another one.
        code = code_of("""
            ld.param.b64 %rd1, [{p}];
            mov.u32 %r1, %ctaid.x;
            min.s32 %r2, %r1, 1000;
            shl.b32 %r3, %r1, 8;
            setp.lt.s32 %p1, %r1, 9;
            @!%p1 bra $end;
            shl.b32 %r4, %r1, 24;
            st.global.b32 [%rd1+4], %r4;
            $end:
            st.global.b32 [%rd1], %r2;
            ret;""")
        self.expect(code, "min.s32 %r2, %r1, 1000;", a=("mov.b32 %r2, %r1;", False))

    def test_what_a_mutant_runs_has_any_number_of_bits(self):
        code = code_of("""
            ld.param.b64 %rd1, [{p}];
            mov.u32 %r1, %ctaid.x;
            min.s32 %r2, %r1, 200;
            shl.b32 %r3, %r2, 24;
            st.global.b32 [%rd1], %r3;
            ret;""")
        self.expect(code, "min.s32 %r2, %r1, 200;", a=("mov.b32 %r2, %r1;", False))

    # A value of a loop, and one of which it alone is computed.
    LOOP = """
        ld.param.b32 %r9, [{n}];
        ld.param.b64 %rd1, [{p}];
        mov.b32 %r1, 0;
        mov.b32 %r2, 0;
        mov.b32 %r3, 0;
        $loop:
        setp.lt.s32 %p1, %r2, %r9;
        selp.b32 %r4, %r2, %r9, %p1;
        setp.lt.s32 %p2, %r3, %r9;
        selp.b32 %r5, %r3, %r9, %p2;
        add.s32 %r2, %r4, 3;
        add.s32 %r3, %r5, 3;
        add.s32 %r1, %r1, 1;
        setp.lt.s32 %p3, %r1, %r9;
        @%p3 bra $loop;
        st.global.b32 [%rd1], %r2;
        ret;"""

    def test_what_only_a_loop_itself_reads(self):
        code = code_of(self.LOOP)
        self.expect(code, "selp.b32 %r5, %r3, %r9, %p2;", a=("mov.b32 %r5, %r3;", True))
        self.expect(code, "selp.b32 %r4, %r2, %r9, %p1;", a=("mov.b32 %r4, %r2;", False))
        self.expect(code, "setp.lt.s32 %p3, %r1, %r9;", a=("setp.ne.u32 %p3, 0, 0;", False))

    def test_a_register_of_an_earlier_round(self):
        # %r3 is what %r2 was before the loop's end changed it.
        code = code_of("""
            ld.param.b64 %rd1, [{p}];
            mov.b32 %r2, 0;
            $loop:
            add.s32 %r3, %r2, 1;
            add.s32 %r2, %r2, 2;
            sub.s32 %r4, %r2, %r3;
            min.s32 %r5, %r4, 1;
            setp.lt.s32 %p1, %r3, %r2;
            st.global.b32 [%rd1], %r5;
            @%p1 bra $loop;
            ret;""")
        self.expect(code, "min.s32 %r5, %r4, 1;", a=("mov.b32 %r5, %r4;", False))

    # r2 elements from p on, if there are some, are each r3 more; the loop ends by an equation.
    GUARDED = """
        ld.param.b32 %r9, [{n}];
        ld.param.b32 %r8, [{m}];
        ld.param.b64 %rd1, [{p}];
        max.s32 %r2, %r9, 0;
        min.s32 %r3, %r8, 5;
        setp.lt.s32 %p1, %r9, 1;
        mov.b32 %r1, 0;
        $outer:
        mov.b32 %r4, 0;
        @%p1 bra $next;
        $inner:
        ld.global.b32 %r5, [%rd1];
        add.s32 %r6, %r5, %r3;
        st.global.b32 [%rd1], %r6;
        add.s32 %r4, %r4, 1;
        setp.ne.b32 %p2, %r4, %r2;
        @%p2 bra $inner;
        $next:
        add.s32 %r1, %r1, 1;
        setp.lt.s32 %p3, %r1, %r8;
        @%p3 bra $outer;
        ret;"""

    def test_what_is_known_in_loops_that_come_later(self):
        code = code_of(self.GUARDED)
        self.expect(code, "max.s32 %r2, %r9, 0;", a=("mov.b32 %r2, %r9;", True),
                    b=("mov.b32 %r2, 0;", False))
        self.expect(code, "min.s32 %r3, %r8, 5;", a=("mov.b32 %r3, %r8;", False))
        # Without the branch around it the loop has no round, or never ends.
        code = code_of(self.GUARDED.replace("@%p1 bra $next;", ""))
        self.expect(code, "max.s32 %r2, %r9, 0;", a=("mov.b32 %r2, %r9;", False))
        # What the loop changes is another one where it begins, or begins again.
        code = code_of(self.GUARDED.replace("add.s32 %r1, %r1, 1;", "add.s32 %r1, %r1, %r2;"))
        self.expect(code, "max.s32 %r2, %r9, 0;", a=("mov.b32 %r2, %r9;", False))
        code = code_of(self.GUARDED.replace("mov.b32 %r1, 0;", "mov.b32 %r1, %r2;"))
        self.expect(code, "max.s32 %r2, %r9, 0;", a=("mov.b32 %r2, %r9;", False))
        code = code_of(self.GUARDED.replace("setp.lt.s32 %p1, %r9, 1;", "setp.lt.s32 %p1, %r8, 1;"))
        self.expect(code, "max.s32 %r2, %r9, 0;", a=("mov.b32 %r2, %r9;", False))

    def test_what_branches_say_that_lead_there(self):
        body = """
            ld.param.b32 %r9, [{n}];
            ld.param.b64 %rd1, [{p}];
            setp.lt.s32 %p1, %r9, 7;
            @%p1 bra $there;
            ret;
            $there:
            min.s32 %r1, %r9, 6;
            min.s32 %r2, %r9, 5;
            st.global.b32 [%rd1], %r1;
            st.global.b32 [%rd1+4], %r2;
            ret;"""
        code = code_of(body)
        self.expect(code, "min.s32 %r1, %r9, 6;", a=("mov.b32 %r1, %r9;", True))
        self.expect(code, "min.s32 %r2, %r9, 5;", a=("mov.b32 %r2, %r9;", False))
        code = code_of(body.replace("@%p1 bra", "@!%p1 bra"))
        self.expect(code, "min.s32 %r1, %r9, 6;", a=("mov.b32 %r1, %r9;", False))

    def test_what_one_of_two_ways_changes(self):
        code = code_of("""
            ld.param.b32 %r9, [{n}];
            ld.param.b64 %rd1, [{p}];
            mov.b32 %r1, 1;
            setp.lt.s32 %p1, %r9, 7;
            @%p1 bra $there;
            mov.b32 %r1, 2;
            $there:
            st.global.b32 [%rd1], %r1;
            ret;""")
        self.expect(code, "setp.lt.s32 %p1, %r9, 7;", a=("setp.eq.u32 %p1, 0, 0;", False),
                    b=("setp.ne.u32 %p1, 0, 0;", False))

    def test_loads_are_what_a_kernel_does(self):
        # Of a load that is left out nothing is stored: it may be out of bounds all the same.
        code = code_of("""
            ld.param.b32 %r9, [{n}];
            ld.param.b64 %rd1, [{p}];
            setp.lt.s32 %p1, %r9, 7;
            @%p1 bra $end;
            ld.global.b32 %r1, [%rd1];
            $end:
            ret;""")
        self.expect(code, "setp.lt.s32 %p1, %r9, 7;", a=("setp.eq.u32 %p1, 0, 0;", False),
                    b=("setp.ne.u32 %p1, 0, 0;", False))

    def test_a_guarded_end(self):
        code = code_of("""
            ld.param.b32 %r9, [{n}];
            ld.param.b64 %rd1, [{p}];
            setp.lt.s32 %p1, %r9, 7;
            @%p1 ret;
            st.global.b32 [%rd1], %r9;
            ret;""")
        self.expect(code, "setp.lt.s32 %p1, %r9, 7;", a=("setp.eq.u32 %p1, 0, 0;", False),
                    b=("setp.ne.u32 %p1, 0, 0;", False))

    def test_divisors_are_not_zero(self):
        body = """
            ld.param.b32 %r9, [{n}];
            ld.param.b32 %r8, [{m}];
            ld.param.b64 %rd1, [{p}];
            mov.u32 %r1, %ctaid.x;
            setp.eq.b32 %p1, %r9, 0;
            selp.b32 %r2, -1, 0, %p1;
            or.b32 %r3, %r9, %r2;
            rem.s32 %r4, %r1, %r3;
            selp.b32 %r5, 0, %r4, %p1;
            setp.eq.b32 %p2, %r8, 0;
            selp.b32 %r6, 0, %r4, %p2;
            st.global.b32 [%rd1], %r5;
            st.global.b32 [%rd1+4], %r6;
            ret;"""
        code = code_of(body)
        self.expect(code, "selp.b32 %r5, 0, %r4, %p1;", a=("mov.b32 %r5, %r4;", True),
                    b=("mov.b32 %r5, 0;", False))
        self.expect(code, "setp.eq.b32 %p1, %r9, 0;", a=("setp.ne.u32 %p1, 0, 0;", True))
        self.expect(code, "selp.b32 %r6, 0, %r4, %p2;", a=("mov.b32 %r6, %r4;", False))

    def test_comparisons_of_floats(self):
        code = code_of("""
            ld.param.b64 %rd1, [{p}];
            ld.global.b32 %r1, [%rd1];
            setp.num.f32 %p1, %r1, %r1;
            setp.ge.f32 %p2, %r1, 0f00000000;
            and.pred %p3, %p1, %p2;
            setp.geu.f32 %p4, %r1, 0f00000000;
            and.pred %p5, %p1, %p4;
            selp.b32 %r2, 1, 0, %p3;
            selp.b32 %r3, 1, 0, %p5;
            st.global.b32 [%rd1], %r2;
            st.global.b32 [%rd1+4], %r3;
            ret;""")
        self.expect(code, "and.pred %p3, %p1, %p2;", a=("mov.pred %p3, %p2;", True),
                    b=("mov.pred %p3, %p1;", False))
        self.expect(code, "and.pred %p5, %p1, %p4;", a=("mov.pred %p5, %p4;", False))

    def test_halves(self):
        code = code_of("""
            ld.param.b32 %r9, [{n}];
            ld.param.b64 %rd1, [{p}];
            setp.lt.s32 %p1, %r9, 7;
            selp.f32 %r1, 0f00000000, 0f3F800000, %p1;
            selp.f32 %r2, 0f00000000, 0f3F800000, %p1;
            cvt.rn.f16x2.f32 %r3, %r1, %r2;
            {{ .reg .b16 tmp; mov.b32 {{%rs1, tmp}}, %r3; }}
            st.global.b16 [%rd1], %rs1;
            ret;""")
        self.expect(code, "selp.f32 %r1, 0f00000000, 0f3F800000, %p1;",
                    a=("mov.b32 %r1, 0f00000000;", True))
        self.expect(code, "selp.f32 %r2, 0f00000000, 0f3F800000, %p1;",
                    a=("mov.b32 %r2, 0f00000000;", False))

    def test_copies_of_no_bytes_read_nowhere(self):
        body = """
            ld.param.b32 %r9, [{n}];
            ld.param.b64 %rd1, [{p}];
            mov.u32 %r1, %tid.x;
            min.s32 %r2, %r1, %r9;
            mul.wide.s32 %rd2, %r2, 16;
            add.s64 %rd3, %rd1, %rd2;
            setp.le.s32 %p1, %r1, %r9;
            selp.b32 %r4, 16, 0, %p1;
            cp.async.cg.shared.global [%r5], [%rd3], 16, %r4;
            ret;"""
        clamp = "min.s32 %r2, %r1, %r9;"
        self.expect(code_of(body), clamp, a=("mov.b32 %r2, %r1;", True), b=("mov.b32 %r2, %r9;", False))
        code = code_of(body.replace("selp.b32 %r4, 16, 0", "selp.b32 %r4, 16, 8"))
        self.expect(code, clamp, a=("mov.b32 %r2, %r1;", False))
        code = code_of(body.replace(", 16, %r4", ", 16"))
        self.expect(code, clamp, a=("mov.b32 %r2, %r1;", False))

    # clamp(v) where the slope is 1, else clamp(slope * v).
    ACTIVATION = """
        ld.param.b32 %r1, [k_param_0];
        ld.param.b32 %r2, [k_param_1];
        ld.param.b32 %r3, [k_param_2];
        ld.param.b8 %rs1, [k_param_3];
        ld.param.b64 %rd1, [k_param_4];
        setp.ne.b16 %p1, %rs1, 0;
        ld.global.b32 %r4, [%rd1];
        mul.f32 %r5, %r4, %r1;
        setp.lt.f32 %p2, %r5, %r2;
        selp.f32 %r6, %r2, %r5, %p2;
        setp.lt.f32 %p3, %r4, %r2;
        selp.f32 %r7, %r2, %r4, %p3;
        setp.lt.f32 %p4, %r3, %r7;
        selp.f32 %r8, %r3, %r7, %p4;
        selp.f32 %r9, %r8, %r6, %p1;
        st.global.b32 [%rd1], %r9;
        ret;"""

    def activation(self, row, flag):
        names = ", ".join(f"(void *)make_struct({name})" for name in (
            "(float32)slope", "(float32)low", "(float32)high", "t1", "7"))
        return code_of(self.ACTIVATION, Host(
            f"let t1 = {flag}\nlet r = halide_cuda_run(cuda[0], \"k\", 1, 1, 1, 32, 1, 1, 0, "
            f"(void *)make_struct(), (void *)make_struct({names}), 0)\n", row))

    def test_activations_have_a_slope_or_bounds(self):
        for flag in ("(float32)slope == 1.000000f", "(uint1)strict_eq(1.000000f, (float32)slope)"):
            code = self.activation("conv2d_any_f32_nhwc_cuda", flag)
            self.expect(code, "selp.f32 %r6, %r2, %r5, %p2;", a=("mov.b32 %r6, %r5;", True),
                        b=("mov.b32 %r6, %r2;", False))
            self.expect(code, "selp.f32 %r7, %r2, %r4, %p3;", a=("mov.b32 %r7, %r4;", False))
            self.expect(code, "selp.f32 %r8, %r3, %r7, %p4;", a=("mov.b32 %r8, %r7;", False))
        for row, flag in (("quantized_conv2d_3x3_cuda", "(float32)slope == 1.000000f"),
                          ("activate_backward_f32_cuda", "(float32)slope == 1.000000f"),
                          ("conv2d_any_f32_nhwc_cuda", "(float32)low == 1.000000f"),
                          ("conv2d_any_f32_nhwc_cuda", "(float32)slope == 0.500000f")):
            self.expect(self.activation(row, flag), "selp.f32 %r6, %r2, %r5, %p2;",
                        a=("mov.b32 %r6, %r5;", False))

    def test_barriers(self):
        body = """
            ld.param.b64 %rd1, [{p}];
            st.shared.b32 [0], %r1;
            bar.sync 0;
            mov.b32 %r3, 0;
            bar.sync 1;
            ld.shared.b32 %r2, [4];
            st.global.b32 [%rd1], %r2;
            ret;"""
        # Each does what the other does.
        self.expect(code_of(body), "bar.sync 0;", a=("", True))
        self.expect(code_of(body), "bar.sync 1;", a=("", True))
        code = code_of(body.replace("mov.b32 %r3, 0", "ld.shared.b32 %r3, [4]"))
        self.expect(code, "bar.sync 0;", a=("", False))
        self.expect(code, "bar.sync 1;", a=("", True))


if __name__ == "__main__":
    unittest.main()
