"""From template text to prompt text: the environment, a sandboxed worker process, conversations.

May import `turnspec.spec` only.
"""
