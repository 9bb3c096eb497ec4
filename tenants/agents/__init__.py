"""What is declared of an agent: its memory block and its tool hooks, one validated object of each name.

`spec` says what there is to declare and checks it, `patterns` compiles the rules' regular expressions,
`parsing` reads JSON, YAML and Kubernetes resources, `agents` stores and lists, `reading` answers what holds
now.
"""
