"""The shape of a readers file, key by key, strictly."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from .config_values import Address, Delay, Id, Words, one_line

Line = Annotated[str, AfterValidator(one_line)]
Scalar = str | bool | int | float


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class TokenModel(_Strict):
    """A secret out of the environment; without it the request is anonymous."""

    variable: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
    header: Words = "Authorization"
    value: Line = "Bearer {token}"


class FactModel(_Strict):
    say: Line
    when: dict[str, Scalar] = {}


class ExampleModel(_Strict):
    """An answer as the server gives it, and what the rule makes of it."""

    cited: Address
    asks: Address | None = None
    status: int = 200
    type: str = "application/json"
    body: str
    title: str | None = None
    shows: list[str] = []
    finds: list[str] = []
    verdict: str = "ok"


class ReaderModel(_Strict):
    name: Id
    version: Annotated[int, Field(ge=1)] = 1
    cited: Annotated[list[Line], Field(min_length=1)]
    where: dict[str, str] = {}
    any_query: bool = False
    only_named: bool = False
    read: Line = ""
    official: Annotated[str, AfterValidator(one_line), Field(min_length=20)]
    documented: Address | None = None
    accept: Line = ""
    headers: dict[str, Line] = {}
    token: TokenModel | None = None
    delay: Annotated[Delay, Field(json_schema_extra={"default": "0s"})] = 0.0
    form: Literal["", "json"] = ""
    proves: dict[str, Line] = {}
    gone: dict[str, Scalar] = {}
    title: str = ""
    text: list[str] = []
    markdown: list[str] = []
    values: list[str] = []
    fact: list[FactModel] = []
    select: str = ""
    ignore: list[str] = []
    must_select: bool = False
    example: Annotated[list[ExampleModel], Field(min_length=1)]


class ReadersFile(_Strict):
    reader: list[ReaderModel] = []


VARIABLE = re.compile(r"\{([a-z][a-z0-9_]{0,30})(\*?)\}")
