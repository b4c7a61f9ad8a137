"""The algebra that turns events into entities. Pure.

Start at :mod:`operators.entities.apply`, which applies a contribution to an entity, and :mod:`operators.operator`, the interface of all
operators; each operator of a schema is a class that :mod:`operators.registry` names. The small operators are in ``operators/aggregates/``,
those that build structures in folders of their own.
"""
