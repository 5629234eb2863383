"""Prints compiled parsers as TypeScript, or as JavaScript, which is that without types.

The subset of Python that is printed; all else is refused, by name and line:

- Functions, generators (``yield`` of nothing, ``yield from``), classes with one base, properties,
  cached properties, enumerations, ``lru_cache``. No ``*args``; a keyword is put in its place.
- Assignments, also of tuples, to names, attributes and elements of dictionaries; ``+=`` and
  ``-=`` of numbers and texts, ``+=`` of lists, ``|=`` of sets; ``del x[a:]``.
- ``if``, ``match`` of a name and values, ``while``, ``for``, ``raise``, ``assert``; ``try`` for
  what one call returns, with one ``except ValueError`` that leaves.
- Comprehensions, format strings with ``!r``, slices, a walrus, lambdas; the methods of texts,
  lists, sets, dictionaries, expressions and matches that ``calls`` has tables of.

Kinds come from annotations, and from what is assigned: truth, ``or``, ``in``, ``len`` and ``get``
aren't the same for all. A ``dict`` is a ``Map``, ``Mapping[str, Any]`` any object of JSON,
``tuple`` and ``Sequence`` are arrays that nobody changes, ``None`` is ``null``, an enumeration the
texts of its members. What Python compares by its parts, and JavaScript by identity, is refused. A
text's length and places are JavaScript's; who gives them to others makes code points of them.
"""
