"""The model's answer: its form, lenient parsing, strict validation.

Start at :mod:`extraction.one_pass.answer.form`, then :mod:`~extraction.one_pass.answer.parsing` and
:mod:`~extraction.one_pass.answer.validation`.
"""
