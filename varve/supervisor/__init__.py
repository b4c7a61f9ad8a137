"""Child processes under one parent: started in order, watched, restarted, and stopped in reverse order.

Start at :mod:`varve.supervisor.supervisor`.
"""
