import io
import unittest


def divide(a: float, b: float) -> float:
    if b == 0:
        raise ValueError("Cannot divide by zero")
    return a / b


class TestDivide(unittest.TestCase):
    def setUp(self):
        self.cases = [(10, 2, 5), (9, 3, 3), (-4, 2, -2)]

    def test_cases(self):
        for a, b, expected in self.cases:
            with self.subTest(a=a, b=b):
                self.assertEqual(divide(a, b), expected)

    def test_zero(self):
        with self.assertRaises(ValueError) as ctx:
            divide(1, 0)
        self.assertIn("zero", str(ctx.exception))

    def test_close(self):
        self.assertAlmostEqual(divide(1, 3), 0.3333, places=4)
        self.assertTrue(divide(2, 1) == 2)
        self.assertIsNone(None)

    def test_wrong_on_purpose(self):
        self.assertEqual(divide(4, 2), 3)


suite = unittest.defaultTestLoader.loadTestsFromTestCase(TestDivide)
stream = io.StringIO()
result = unittest.TextTestRunner(stream=stream, verbosity=2).run(suite)
assert result.testsRun == 4
assert len(result.failures) == 1 and "2.0 != 3" in result.failures[0][1]
assert not result.errors and not result.wasSuccessful()
"ok"
