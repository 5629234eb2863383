"""The prompt side for apps: messages become prompts, answers messages, with one spec for both.

May import everything but `generator.pipeline` and `generator.cli`.

Example:
    >>> from generator.chat import ChatTemplate
    >>> with ChatTemplate.load("model.gguf") as chat:
    ...     prompt = chat.render([{"role": "user", "content": "Hello!"}])
    ...     parser = chat.parser(prompt)
"""

from generator.chat.errors import ChatError
from generator.chat.increments import Conversation, Increment
from generator.chat.polyfills import Polyfill
from generator.chat.request import Prompt
from generator.chat.sources import NAMED_FORMATS
from generator.chat.template import ChatTemplate

__all__ = [
    "NAMED_FORMATS",
    "ChatError",
    "ChatTemplate",
    "Conversation",
    "Increment",
    "Polyfill",
    "Prompt",
]
