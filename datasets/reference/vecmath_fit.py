"""The polynomials of minitorch/kernels/vecmath.h: weighted least squares, reweighted until the error is level (Lawson).

Prints each function's coefficients, lowest power first, as f32 in hex, and the largest error of the polynomial itself.
Ran with Python 3.11 and NumPy 1.24: /usr/bin/python3 datasets/reference/vecmath_fit.py
"""
import math

import numpy as np
from numpy.polynomial import chebyshev, polynomial


def fit(f, low, high, degree, weight, points=4000):
    t = np.cos(np.pi * (np.arange(points) + 0.5) / points)
    x = (low + high) / 2 + (high - low) / 2 * t
    y, w = np.array([f(v) for v in x]), np.array([weight(v) for v in x])
    lawson, basis = np.ones(points) / points, chebyshev.chebvander(t, degree)
    for _ in range(200):
        scale = np.sqrt(lawson) * w
        c = np.linalg.lstsq(basis * scale[:, None], y * scale, rcond=None)[0]
        error = np.abs((basis @ c - y) * w)
        lawson *= error
        lawson /= lawson.sum()
    line, power, total = [-(low + high) / (high - low), 2 / (high - low)], [1.0], [0.0]
    for coefficient in chebyshev.cheb2poly(c):
        total = polynomial.polyadd(total, coefficient * np.array(power))
        power = polynomial.polymul(power, line)
    return total, error.max()


def exp_tail(r):
    return (math.expm1(r) - r) / r**2 if abs(r) > 1e-3 else 0.5 + r / 6 + r * r / 24


def tanh_tail(u):
    x = math.sqrt(u)
    return (math.tanh(x) - x) / x**3 if x > 0.02 else -1 / 3 + 2 * u / 15 - 17 * u * u / 315


def erf_ratio(u):
    x = math.sqrt(u)
    return math.erf(x) / x if x > 1e-6 else 2 / math.sqrt(math.pi)


for name, c in (
    ("(e^r - 1 - r) / r^2, |r| <= ln(2)/2", fit(exp_tail, -0.34661, 0.34661, 4, lambda r: r * r)),
    ("(tanh x - x) / x^3 in x^2, x < 0.6", fit(tanh_tail, 1e-8, 0.36, 5, lambda u: u)),
    ("erf x / x in x^2, x < 1", fit(erf_ratio, 1e-12, 1, 6, lambda u: 1 / erf_ratio(u))),
    ("log erfc x, 0.95 < x < 4", fit(lambda x: math.log(math.erfc(x)), 0.95, 4, 7, math.erfc)),
):
    print(name, [float(np.float32(v)).hex() for v in c[0]], "error %.1e" % c[1])
