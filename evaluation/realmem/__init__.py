"""Recall and extraction on RealMem: chats of users with an assistant, over months, with queries in between.

Start at :mod:`evaluation.realmem.command`.
"""
