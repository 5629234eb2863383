/** What a parser gives: the message, and the events that tell of it as it grows. */

import type { ProblemKind } from "./format.js";

/** Something that deviates from the format; `offset` is negative in the prefill. */
export interface Problem {
  readonly offset: number;
  readonly kind: ProblemKind;
  readonly message: string;
}

/** A tool call. `arguments` is JSON text; `complete` is false if the call was cut off. */
export interface ToolCall {
  id: string;
  name: string;
  arguments: string;
  complete: boolean;
}

/** A tool call as chat-completions APIs have it. */
export interface ChatToolCall {
  id: string;
  type: "function";
  function: { name: string; arguments: string };
}

/** An assistant's message as chat-completions APIs have it. */
export interface ChatMessage {
  role: "assistant";
  content: string | null;
  reasoning_content?: string;
  tool_calls?: ChatToolCall[];
}

/** The assistant's message, as far as it is known. */
export class Message {
  constructor(
    content: string,
    reasoningContent: string,
    toolCalls: readonly ToolCall[],
    problems: readonly Problem[],
  ) {
    this.content = content;
    this.reasoningContent = reasoningContent;
    this.toolCalls = toolCalls;
    this.problems = problems;
  }

  readonly content: string;
  readonly reasoningContent: string;
  readonly toolCalls: readonly ToolCall[];
  readonly problems: readonly Problem[];

  /**
   * Why the turn is over, in the words of chat-completions APIs: "length" if a call is not
   * complete; other text doesn't show that it was cut off.
   */
  get finishReason(): "length" | "stop" | "tool_calls" {
    if (this.toolCalls.some((call) => !call.complete)) return "length";
    return this.toolCalls.length > 0 ? "tool_calls" : "stop";
  }

  /** Return the message as chat-completions APIs have it. */
  toObject(): ChatMessage {
    const hasCalls = this.toolCalls.length > 0;
    const content = hasCalls && !this.content ? null : this.content;
    const message: ChatMessage = { role: "assistant", content };
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

/** Where an event comes from in the model's text, in code points; `sliceOf` returns that text. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A piece of the reasoning. */
export interface ReasoningDelta extends Span {
  readonly type: "reasoning";
  readonly text: string;
}

/** A piece of the content. */
export interface ContentDelta extends Span {
  readonly type: "content";
  readonly text: string;
}

/** The name of a tool call is complete. An id that may yet come is empty here. */
export interface ToolCallStart extends Span {
  readonly type: "tool_call_start";
  readonly index: number;
  readonly id: string;
  readonly name: string;
}

/** A piece of a tool call's arguments: JSON text. */
export interface ToolCallDelta extends Span {
  readonly type: "tool_call_delta";
  readonly index: number;
  readonly arguments: string;
}

/** A tool call is over, or cut off, which `complete` tells. Its id, if the start had none. */
export interface ToolCallEnd extends Span {
  readonly type: "tool_call_end";
  readonly index: number;
  readonly id: string;
  readonly complete: boolean;
}

export type ParserEvent =
  | ReasoningDelta
  | ContentDelta
  | ToolCallStart
  | ToolCallDelta
  | ToolCallEnd;

/** A piece of a message, as a stream of a chat-completions API has it. */
export interface Delta {
  content?: string;
  reasoning_content?: string;
  tool_calls?: {
    index: number;
    id?: string;
    type?: "function";
    function?: { name?: string; arguments: string };
  }[];
}

/** Return an event's delta of a chat-completions API; null where there is nothing to send. */
export function toDelta(event: ParserEvent): Delta | null {
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
