"""Models in the layout that other libraries read and write: a folder with config.json and safetensors.

Nothing here imports those libraries, and nothing in a file is executed. A family of published models is one file of
`zoo/published/family/`, which holds two tables, each read in both directions.
"""
