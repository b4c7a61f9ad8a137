"""The algebra that turns events into entities. Pure.

Start at :mod:`operators.apply`, which applies a contribution to an entity, and :mod:`operators.operator`, the interface of all operators;
each operator of a schema is a class that :mod:`operators.registry` names.
"""
