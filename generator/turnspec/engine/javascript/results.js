/** What a parser gives: the message, and the events that tell of it as it grows. */
/** The assistant's message, as far as it is known. */
export class Message {
  constructor(content, reasoningContent, toolCalls, problems) {
    this.content = content;
    this.reasoningContent = reasoningContent;
    this.toolCalls = toolCalls;
    this.problems = problems;
  }
  content;
  reasoningContent;
  toolCalls;
  problems;
  /**
   * Why the turn is over, in the words of chat-completions APIs: "length" if a call is not
   * complete; other text doesn't show that it was cut off.
   */
  get finishReason() {
    if (this.toolCalls.some((call) => !call.complete)) return "length";
    return this.toolCalls.length > 0 ? "tool_calls" : "stop";
  }
  /** Return the message as chat-completions APIs have it. */
  toObject() {
    const hasCalls = this.toolCalls.length > 0;
    const content = hasCalls && !this.content ? null : this.content;
    const message = { role: "assistant", content };
    if (this.reasoningContent) message.reasoning_content = this.reasoningContent;
    if (hasCalls) {
      message.tool_calls = this.toolCalls.map((call) => ({
        id: call.id,
        type: "function",
        function: { name: call.name, arguments: call.arguments },
      }));
    }
    return message;
  }
}
/** Return an event's delta of a chat-completions API; null where there is nothing to send. */
export function toDelta(event) {
  switch (event.type) {
    case "reasoning":
      return { reasoning_content: event.text };
    case "content":
      return { content: event.text };
    case "tool_call_start": {
      const { index, id, name } = event;
      return { tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] };
    }
    case "tool_call_delta":
      return { tool_calls: [{ index: event.index, function: { arguments: event.arguments } }] };
    case "tool_call_end":
      return event.id ? { tool_calls: [{ index: event.index, id: event.id }] } : null;
  }
}
