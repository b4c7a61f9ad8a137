"""Refuses query parameters that a route does not have: an ignored filter would select everything."""

from typing import Final

from fastapi import Request
from fastapi.routing import APIRoute
from pydantic import BaseModel

from api.problems import ProblemError, first_names
from memory.name_hints import with_meant_name

_NAMED: Final = 5
_LONGEST_NAME: Final = 80


def refuse_unknown_parameters(request: Request) -> None:
    """Refuses what the request's route does not have. Call it once the key is accepted: others learn nothing about routes.

    Raises:
        ProblemError: 422; names the unknown parameters and the known ones.
    """
    given = request.query_params
    if not given:
        return
    known = parameters_of(request.scope["route"])
    unknown = [each for each in given if each not in known]
    if not unknown:
        return
    names = first_names([with_meant_name(each[:_LONGEST_NAME], known, given) for each in unknown], most=_NAMED)
    expected = f"expected some of: {', '.join(known)}" if known else "this route has none"
    raise ProblemError(422, "invalid", f"query.{names}: unknown parameter; {expected}")


def parameters_of(route: APIRoute) -> list[str]:
    """The names of a route's query parameters, with those of its dependencies and of models of parameters."""
    names: set[str] = set()
    dependants = [route.dependant]
    while dependants:
        dependant = dependants.pop()
        dependants += dependant.dependencies
        for parameter in dependant.query_params:
            model = parameter.field_info.annotation
            if isinstance(model, type) and issubclass(model, BaseModel):
                names.update(field.alias or name for name, field in model.model_fields.items())
            else:
                names.add(parameter.alias)
    return sorted(names)
