/** A template of our own, to begin with. */
export const EXAMPLE = `{%- for message in messages %}
{{- '<|' + message.role + '|>\\n' }}
{%- if message.reasoning_content %}{{ '<think>' + message.reasoning_content + '</think>\\n' }}{% endif %}
{{- message.content or '' }}
{%- for call in message.tool_calls or [] %}
{{- '<call>' + call.function.name + '\\n' + (call.function.arguments | tojson) + '</call>' }}
{%- endfor %}
{{- '<|end|>\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}{{ '<|assistant|>\\n' }}{% endif %}
`;
