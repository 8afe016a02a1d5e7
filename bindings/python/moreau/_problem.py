"""Problems as data, and solving them."""
from __future__ import annotations

from typing import Any, List, Mapping, NamedTuple, Optional, Union

import numpy as np

from . import _core, _scene

try:
    from scipy import sparse
except ImportError:  # matrices are then dense
    sparse = None


def _give(matrix: Optional[tuple]) -> Any:
    if matrix is None:
        return None
    if matrix[0] == "dense":
        return matrix[3]
    _, rows, cols, x, i, p = matrix
    if sparse is not None:
        return sparse.csr_matrix((x, i, p), shape=(rows, cols))
    dense = np.zeros((rows, cols))
    for r in range(rows):
        dense[r, i[p[r]:p[r + 1]]] = x[p[r]:p[r + 1]]
    return dense


def _take(matrix: Any) -> Optional[tuple]:
    if matrix is None:
        return None
    if sparse is not None and sparse.issparse(matrix):
        m = matrix.tocsr().sorted_indices()
        m.sum_duplicates()
        return "sparse", m.shape[0], m.shape[1], m.data, m.indices, m.indptr
    m = np.asarray(matrix, float)
    if m.ndim != 2:
        raise _core.BadInput("a matrix has two dimensions, not %d" % m.ndim)
    return "dense", m.shape[0], m.shape[1], np.asfortranarray(m).ravel(order="F")


class Problem:
    """A complementarity or contact problem (the forms of moreau/problem.h):

        Problem("lcp", A=A, b=b)                      w = A z + b, 0 <= z _|_ w >= 0
        Problem("mlcp", A=A, b=b, lower=lower)        free where lower is -inf
        Problem("mcp", A=A, b=b, lower=l, upper=u)
        Problem("fc3d", W=W, q=q, mu=mu)              u = W r + q and Coulomb's law, blocks of 3 (fc2d: 2)
        Problem("gfc3d", M=M, H=H, f=f, q=q, mu=mu)   M v = H r + f, u = H' v + q
        Problem("qp", A=A, b=b, C=C, c_lower=, c_upper=, lower=, upper=)

    Matrices are numpy arrays or scipy.sparse. All data is copied; what is read is read-only.
    """

    impulses: np.ndarray  #: of problems of a world: what the step answered
    nu: np.ndarray  #: of problems of a world: velocities after the step

    def __init__(self, form: str, *, A: Any = None, b: Any = None, W: Any = None, q: Any = None, M: Any = None,
                 H: Any = None, f: Any = None, mu: Any = None, mu_roll: Any = None, lower: Any = None, upper: Any = None,
                 C: Any = None, c_lower: Any = None, c_upper: Any = None) -> None:
        A = W if A is None else A
        b = q if b is None else b
        arrays = dict(A=_take(A), M=_take(M), H=_take(H), C=_take(C), b=b, f=f, mu=mu, mu_roll=mu_roll, lower=lower,
                      upper=upper, c_lower=c_lower, c_upper=c_upper)
        self._core = _core.Problem(form, {k: v for k, v in arrays.items() if v is not None})
        self._data: Optional[dict] = None

    @classmethod
    def _of(cls, core: Any) -> "Problem":
        self = cls.__new__(cls)
        self._core, self._data = core, None
        return self

    def _get(self, key: str) -> Any:
        if self._data is None:
            self._data = self._core._arrays()
        value = self._data.get(key)
        return _give(value) if isinstance(value, tuple) else value

    @property
    def form(self) -> str:
        """lcp, fc3d, step-cone ..."""
        return self._core.form

    @property
    def size(self) -> int:
        """Number of unknowns n (global forms: of the impulses)."""
        return self._core.size if self._core.size else self._core.unknowns

    @property
    def unknowns(self) -> int:
        """Length of the answer."""
        return self._core.unknowns

    @property
    def contact_count(self) -> int:
        return self._core.contact_count

    @property
    def dim(self) -> int:
        """Rows of a contact."""
        return self._core.dim

    @property
    def A(self) -> Any:
        """The matrix of lcp, mlcp, mcp, fc (W), qp, cqp."""
        return self._get("A")

    @property
    def M(self) -> Any:
        """Mass matrix of global forms and steps."""
        return self._get("M") if self._get("M") is not None else self._get("step_M")

    @property
    def H(self) -> Any:
        """Columns: directions of the rows, generalised velocities x rows (G of a step)."""
        return self._get("H") if self._get("H") is not None else self._get("step_H")

    @property
    def W(self) -> Any:
        """H' M^-1 H, or A."""
        if self._get("A") is not None:
            return self.A
        H, M = self.H, self.M
        dense = [m.toarray() if hasattr(m, "toarray") else m for m in (H, M)]
        return dense[0].T @ np.linalg.solve(dense[1], dense[0])

    @property
    def b(self) -> np.ndarray:
        """The vector of the rows."""
        return self._get("b")

    @property
    def q(self) -> np.ndarray:
        """Velocities of the rows without impulses: b, for global forms and steps H' v_free + b."""
        if self._get("A") is not None:
            return self.b
        v = self._get("nu_free")
        if v is None:
            M = self.M.toarray() if hasattr(self.M, "toarray") else self.M
            v = np.linalg.solve(M, self.f)
        return self.H.T @ v + self.b

    @property
    def f(self) -> Any:
        """Forces of global forms."""
        return self._get("f")

    @property
    def nu_free(self) -> Any:
        """Velocities of a step without impulses."""
        return self._get("nu_free")

    @property
    def lower(self) -> Any:
        return self._get("lower")

    @property
    def upper(self) -> Any:
        return self._get("upper")

    @property
    def mu(self) -> Any:
        """Coefficients of friction, one per contact."""
        mu = self._get("mu")
        return mu if mu is not None or self.blocks is None else self.blocks[self.blocks[:, 0] == 2, 3]

    @property
    def blocks(self) -> Any:
        """Blocks of a step, one per row: kind (0 equation, 1 bounded, 2 contact), dim, first row, mu, mu_roll, directions,
        lower, upper."""
        return self._get("blocks")

    def judge(self, z: Any) -> dict:
        """Every measure of how wrong an answer is (docs/notation.md)."""
        return self._core._judge(z)[1]

    def error(self, z: Any) -> float:
        """The one number that tolerances refer to."""
        return self._core._judge(z)[0]

    def write(self, path: str) -> None:
        """Writes a Siconos text file."""
        _core.write_problem(path, self._core)

    def __repr__(self) -> str:
        return "Problem(%r, %d unknowns)" % (self.form, self.unknowns)


class Solution(NamedTuple):
    """An answer with the judge's verdict."""
    z: np.ndarray
    status: str  #: solved, not_converged, no_solution, refused, time_limit, numerical
    error: float  #: the number that the tolerance refers to
    iterations: int
    time: float  #: of the solver alone [s]
    detail: str
    residual: dict  #: all measures
    trace: List[dict]  #: one line per iteration, if asked for

    @property
    def solved(self) -> bool:
        return self.status == "solved"


def solve(problem: Problem, solver: str = "auto", *, tol: float = 1e-8, max_iter: int = 0, time_limit: float = 0.0,
          z0: Any = None, trace: bool = False, **options: Any) -> Solution:
    """Runs a solver on a problem, converting exactly where it must, and judges the answer on the problem as given.

    `tol` is on Problem.error; max_iter 0: the solver's default; time_limit [s], 0: none; options are the solver's own
    (moreau list solvers)."""
    words = {key: _scene.text_of(value) for key, value in options.items()}
    z, report, lines = _core.solve(problem._core, solver, words, tol, max_iter, time_limit, z0, trace)
    error = problem.error(z) if report["status"] != "refused" else float("nan")
    return Solution(z, report["status"], error, report["iterations"], report["time_s"], report["detail"],
                    report["residual"], lines)


def convert(problem: Problem, form: str) -> Problem:
    """The same problem in another form; exact, never a relaxation."""
    return Problem._of(_core.convert(problem._core, form))


def read_problem(path: str, kind: Optional[str] = None) -> Problem:
    """Reads a Siconos text file (.dat); `kind` as on the command line of `moreau solve`."""
    return Problem._of(_core.read_problem(str(path), kind))
