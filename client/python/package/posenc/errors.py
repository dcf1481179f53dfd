"""What calls raise: one class for each code of the service, under `Error`.

    try:
        client.rope(head_dim=7)
    except posenc.InvalidArgument as error:
        error.code, error.field, error.value, error.allowed
        # ('INVALID_ARGUMENT', 'spec.rope.head_dim', '7', 'an even number ...')

Where Python has a class of its own for a kind of error, ours is one of that kind as well: InvalidArgument is
a ValueError, NotFound a LookupError, Unavailable a ConnectionError, DeadlineExceeded a TimeoutError.
"""

import typing


class Violation(typing.NamedTuple):
    """What is wrong with one field of a request."""

    field: str  #: path of the field, such as "spec.rope.head_dim" or "selection.rows.end"
    value: typing.Optional[str]  #: the value given, as text; None where the fault is not one value
    allowed: typing.Optional[str]  #: what may stand there; None where the description says more than that
    description: str  #: all of it in words


class Error(Exception):
    """Any error of a call."""

    #: The service's code, such as "INVALID_ARGUMENT".
    code: str = "UNKNOWN"

    def __init__(self, message, violations=()):
        super().__init__(message)
        self.message: str = message
        #: Every field that is wrong; empty where the error is not about fields.
        self.violations: typing.Tuple[Violation, ...] = tuple(violations)

    def __reduce__(self):
        return type(self), (self.message, self.violations)

    @property
    def field(self):
        """Path of the first field that is wrong, or None."""
        return self.violations[0].field if self.violations else None

    @property
    def value(self):
        """The value that was given for it, as text, or None."""
        return self.violations[0].value if self.violations else None

    @property
    def allowed(self):
        """What is allowed there, or None."""
        return self.violations[0].allowed if self.violations else None


class InvalidArgument(Error, ValueError):
    """A field's value, or several together, that make no table. `violations` names each."""

    code = "INVALID_ARGUMENT"


class WrongArgument(InvalidArgument, TypeError):
    """A keyword that is not there or is missing, or a value of another Python type."""


class OutOfRange(Error, ValueError):
    """Rows, positions, columns, heads or keys past the end of a table."""

    code = "OUT_OF_RANGE"


class NotFound(Error, LookupError):
    """A stored tensor, a key or a file that is not there."""

    code = "NOT_FOUND"


class Unavailable(Error, ConnectionError):
    """The service cannot be reached, or does not serve yet. Names the target, the attempts and the time."""

    code = "UNAVAILABLE"


class DeadlineExceeded(Error, TimeoutError):
    """The call's time was over before its answer was there."""

    code = "DEADLINE_EXCEEDED"


class Unimplemented(Error, NotImplementedError):
    """Known, but not served; or what only a server has, asked of `local()`."""

    code = "UNIMPLEMENTED"


class PermissionDenied(Error, PermissionError):
    """The token does not permit the call."""

    code = "PERMISSION_DENIED"


class Unauthenticated(Error, PermissionError):
    """The service asks for a token or a certificate."""

    code = "UNAUTHENTICATED"


class ResourceExhausted(Error):
    """A table that is larger than the memory permitted for it, here or there."""

    code = "RESOURCE_EXHAUSTED"


class FailedPrecondition(Error):
    """The call does not fit the state of things."""

    code = "FAILED_PRECONDITION"


class AlreadyExists(Error):
    """A name that is there twice."""

    code = "ALREADY_EXISTS"


class Aborted(Error):
    """The call was given up by the service."""

    code = "ABORTED"


class Cancelled(Error):
    """The call was cancelled."""

    code = "CANCELLED"


class DataLoss(Error):
    """A stream that failed its checksum or ended early, again and again."""

    code = "DATA_LOSS"


class Internal(Error):
    """An answer that is none: a fault of the service or of this library."""

    code = "INTERNAL"


class Unknown(Error):
    """An error without a code."""


_BY_CODE = {kind.code: kind for kind in Error.__subclasses__()}


def _violation(field, description):
    """Splits "is 7; allowed: an even number" into its parts."""
    head, separator, allowed = description.partition("; allowed: ")
    value = head[len("is "):] if separator and head.startswith("is ") and head != "is missing" else None
    return Violation(field, value, allowed if separator else None, description)


def _from_status(code, message, violations):
    return _BY_CODE.get(code, Unknown)(message, [_violation(*violation) for violation in violations])


def _wrong_argument(field, value, allowed, message):
    return WrongArgument(message, [Violation(field, value or None, allowed, message)])

__all__ = ["Error", "Violation", "WrongArgument", *(kind.__name__ for kind in Error.__subclasses__())]
