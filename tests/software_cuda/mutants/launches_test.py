"""What is known of a launch, and what is not."""

import unittest

import z3

from host import Host


class Launches(unittest.TestCase):
    def launched(self, lets, parameter, grid="n.extent.0, 1, 1, 32, 1, 1"):
        pointers = ", ".join(f"(void *)make_struct({name})" for name in (parameter, "7"))
        return Host("let n.extent.0 = _halide_buffer_get_extent((struct halide_buffer_t *)n.buffer, 0)\n"
                    f"{lets}\n let r = halide_cuda_run(cuda[0], \"k\", {grid}, 0, (void *)make_struct(), "
                    f"(void *)make_struct({pointers}), 0)\n")

    def holds(self, host, claim):
        bits = lambda name: z3.BitVec(name, 32)  # noqa: E731
        solver = z3.Solver()
        solver.add(*host.facts_of("k", lambda name, width: z3.BitVec(name, width)),
                   z3.Not(claim(bits("[k_param_0] 32"))))
        return solver.check() == z3.unsat

    def test_extents_are_at_least_zero(self):
        host = self.launched("", "n.extent.0", "1, 1, 1, 32, 1, 1")
        self.assertTrue(self.holds(host, lambda n: n >= 0))
        self.assertFalse(self.holds(host, lambda n: n >= 1))
        # Of a launch there are blocks.
        self.assertTrue(self.holds(self.launched("", "n.extent.0"), lambda n: n >= 1))
        self.assertFalse(self.holds(self.launched("", "n.stride.0"), lambda n: n >= 0))

    def test_of_numbers_of_steps(self):
        host = self.launched("let t1 = (n.extent.0 + 255)/256\nlet t2 = (n.extent.0 + -1)/t1", "t2")
        self.assertTrue(self.holds(host, lambda n: n >= 0))
        self.assertFalse(self.holds(host, lambda n: n >= 1))
        # Rounded down, below zero too.
        host = self.launched("let t2 = (n.extent.0 + -8)/3", "t2")
        self.assertFalse(self.holds(host, lambda n: n >= 0))
        host = self.launched("let t2 = let t3 = (min(n.extent.0, 5)*2) in (t3 + 1)", "t2")
        self.assertTrue(self.holds(host, lambda n: z3.And(n >= 1, n <= 11)))
        self.assertFalse(self.holds(host, lambda n: n <= 9))

    def test_of_products(self):
        host = self.launched("", "(n.extent.0*n.extent.0)", "1, 1, 1, 32, 1, 1")
        self.assertTrue(self.holds(host, lambda n: n >= 0))
        self.assertFalse(self.holds(host, lambda n: n >= 1))
        self.assertFalse(self.holds(host, lambda n: n <= 1))
        host = self.launched("", "(n.extent.0*n.stride.0)")
        self.assertFalse(self.holds(host, lambda n: n >= 0))
        self.assertFalse(self.holds(host, lambda n: n <= 0))
        self.assertFalse(self.holds(host, lambda n: n != 0))

    def test_what_is_not_understood_is_anything(self):
        for lets in ("let t1 = int32(n.extent.0)", "let t1 = uint8(300)", "let t1 = f(1)",
                     "let t1 = 3\nlet t1 = 4"):
            self.assertFalse(self.holds(self.launched(lets, "t1"), lambda n: n >= 0))

    def test_threads_and_blocks(self):
        solver = z3.Solver()
        facts = self.launched("", "n.extent.0").facts_of("k", lambda name, width: z3.BitVec(name, width))
        solver.add(*facts)
        thread, block, n = (z3.BitVec(name, 32) for name in ("%tid.x", "%ctaid.x", "[k_param_0] 32"))
        self.assertEqual(solver.check(thread == 31, n == 5, block == 4), z3.sat)
        self.assertEqual(solver.check(thread >= 32), z3.unsat)
        self.assertEqual(solver.check(block >= n), z3.unsat)


if __name__ == "__main__":
    unittest.main()
