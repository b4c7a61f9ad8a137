"""Refuses query parameters that a route does not have, and repeated ones: an ignored filter would select everything."""

from collections import Counter
from collections.abc import Sequence
from typing import Final, get_args, get_origin

from fastapi import Request
from fastapi.routing import APIRoute
from pydantic import BaseModel

from api.problems import ProblemError, first_names
from memory.name_hints import with_meant_name

_NAMED: Final = 5
_LONGEST_NAME: Final = 80


def refuse_unknown_parameters(request: Request) -> None:
    """Refuses what the request's route does not have, and what it takes once but was given more often.

    Call it once the key is accepted: others learn nothing about routes.

    Raises:
        ProblemError: 422; names the parameters, and the known ones.
    """
    given = request.query_params
    if not given:
        return
    known = parameters_of(request.scope["route"])
    if unknown := [each for each in given if each not in known]:
        expected = f"expected some of: {', '.join(known)}" if known else "this route has none"
        names = _listed([with_meant_name(each[:_LONGEST_NAME], known, given) for each in unknown])
        raise ProblemError(422, "invalid", f"query.{names}: unknown parameter; {expected}")
    counts = Counter(name for name, _ in given.multi_items())
    # A proxy that checks the first value would let the last one pass, which counts.
    if repeated := [name for name, count in counts.items() if count > 1 and not known[name]]:
        names = _listed([each[:_LONGEST_NAME] for each in repeated])
        raise ProblemError(422, "invalid", f"query.{names}: given more than once; this parameter has one value")


def parameters_of(route: APIRoute) -> dict[str, bool]:
    """The names of a route's query parameters, with those of its dependencies and of models of parameters; and whether each is a list."""
    found: dict[str, bool] = {}
    dependants = [route.dependant]
    while dependants:
        dependant = dependants.pop()
        dependants += dependant.dependencies
        for parameter in dependant.query_params:
            model = parameter.field_info.annotation
            if isinstance(model, type) and issubclass(model, BaseModel):
                found |= {field.alias or name: _is_list(field.annotation) for name, field in model.model_fields.items()}
            else:
                found[parameter.alias] = _is_list(model)
    return dict(sorted(found.items()))


def _listed(names: Sequence[str]) -> str:
    return first_names(names, most=_NAMED)


def _is_list(annotation: object) -> bool:
    return any(get_origin(each) in (list, tuple) for each in (annotation, *get_args(annotation)))
