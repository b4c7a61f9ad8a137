"""Parts of the Helm chart that follow from the settings, the stages and the values.

Start at :mod:`deploy.chart.values_schema`.
"""
