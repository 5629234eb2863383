"""The command line: a file for each verb, loaded when it is asked for, and what they print.

May import everything.
"""
