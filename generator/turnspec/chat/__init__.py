"""The prompt side for apps: messages become prompts, answers messages, with one spec for both.

May import everything but `turnspec.pipeline` and `turnspec.cli`.

Example:
    >>> from turnspec.chat import ChatTemplate
    >>> with ChatTemplate.load("model.gguf") as chat:
    ...     prompt = chat.render([{"role": "user", "content": "Hello!"}])
    ...     parser = chat.parser(prompt)
"""

from turnspec.chat.errors import ChatError
from turnspec.chat.increments import Conversation, Increment
from turnspec.chat.polyfills import Polyfill
from turnspec.chat.request import Prompt
from turnspec.chat.sources import NAMED_FORMATS
from turnspec.chat.spans import Span, Transcript
from turnspec.chat.template import ChatTemplate

__all__ = [
    "NAMED_FORMATS",
    "ChatError",
    "ChatTemplate",
    "Conversation",
    "Increment",
    "Polyfill",
    "Prompt",
    "Span",
    "Transcript",
]
