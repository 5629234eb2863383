/** What a parser gives: the message, and what chat-completions APIs have for it. */

import type { ParserEvent, Problem, ToolCall } from "./format.js";

/** An assistant's message as chat-completions APIs have it. */
export interface ChatMessage {
  role: "assistant";
  content: string | null;
  //#if ReasoningDelta
  reasoning_content?: string;
  //#end
  //#if ToolCallStart
  tool_calls?: { id: string; type: "function"; function: { name: string; arguments: string } }[];
  //#end
}

/** The assistant's message, as far as it is known. */
export class Message {
  readonly content: string;
  readonly reasoningContent: string;
  readonly toolCalls: readonly ToolCall[];
  readonly problems: readonly Problem[];

  constructor(...all: [string, string, readonly ToolCall[], readonly Problem[]]) {
    [this.content, this.reasoningContent, this.toolCalls, this.problems] = all;
  }

  /** Why the turn is over, for chat-completions APIs: "length" if a call is not complete. */
  get finishReason(): "length" | "stop" | "tool_calls" {
    //#if ToolCallStart
    if (this.toolCalls.some((call) => !call.complete)) return "length";
    if (this.toolCalls.length > 0) return "tool_calls";
    //#end
    return "stop";
  }

  /** Return the message as chat-completions APIs have it. */
  toObject(): ChatMessage {
    const message: ChatMessage = { role: "assistant", content: this.content };
    //#if ReasoningDelta
    if (this.reasoningContent) message.reasoning_content = this.reasoningContent;
    //#end
    //#if ToolCallStart
    if (this.toolCalls.length > 0) {
      message.content ||= null;
      message.tool_calls = this.toolCalls.map(({ id, name, arguments: text }) => {
        return { id, type: "function", function: { name, arguments: text } };
      });
    }
    //#end
    return message;
  }
}

/** A piece of a message, as a stream of a chat-completions API has it. */
export interface Delta {
  content?: string;
  //#if ReasoningDelta
  reasoning_content?: string;
  //#end
  //#if ToolCallStart
  tool_calls?: {
    index: number;
    id?: string;
    type?: "function";
    function?: { name?: string; arguments: string };
  }[];
  //#end
}

/** Return an event's delta of a chat-completions API; null where there is nothing to send. */
export function toDelta(event: ParserEvent): Delta | null {
  //#if ToolCallStart
  if (event.type === "tool_call_start") {
    const { index, id, name } = event;
    return { tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] };
  }
  if (event.type === "tool_call_delta") {
    return { tool_calls: [{ index: event.index, function: { arguments: event.arguments } }] };
  }
  if (event.type === "tool_call_end") {
    return event.id ? { tool_calls: [{ index: event.index, id: event.id }] } : null;
  }
  //#end
  //#if ReasoningDelta
  if (event.type === "reasoning") return { reasoning_content: event.text };
  //#end
  return { content: event.text };
}
