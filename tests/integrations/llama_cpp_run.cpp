// Reads turns with llama.cpp's own chat parsers, as its server does: it makes one of the template.
//
// Standard input: a line with a template, then cases, one a line. Standard output: a line for each
// case with the messages that came of it, whole and in pieces; a text says what went wrong.

#include "chat.h"
#include "json.h"
#include "log.h"

#include <iostream>

using json = common_json;

static json message_of(const std::string & reasoning, const std::string & content,
                       const std::vector<std::pair<std::string, std::string>> & calls) {
    json found = json::array();
    for (const auto & [name, arguments] : calls) {
        found.push_back(json::array({ name, arguments }));
    }
    return json::array({ reasoning, content, found });
}

static json whole(const std::string & text, const common_chat_parser_params & params) {
    const auto message = common_chat_parse(text, false, params);
    std::vector<std::pair<std::string, std::string>> calls;
    for (const auto & call : message.tool_calls) {
        calls.emplace_back(call.name, call.arguments);
    }
    return message_of(message.reasoning_content, message.content, calls);
}

// What clients have put together of the differences that were sent.
static json streamed(const json & pieces, const common_chat_parser_params & params) {
    std::string text, reasoning, content;
    std::vector<std::pair<std::string, std::string>> calls;
    common_chat_msg known;
    for (size_t number = 0; number < pieces.size(); number++) {
        text += pieces.at(number).get<std::string>();
        auto message = common_chat_parse(text, number + 1 < pieces.size(), params);
        if (message.empty()) {
            continue;
        }
        for (const auto & diff : common_chat_msg_diff::compute_diffs(known, message)) {
            reasoning += diff.reasoning_content_delta;
            content += diff.content_delta;
            if (diff.tool_call_index != std::string::npos) {
                calls.resize(std::max(calls.size(), diff.tool_call_index + 1));
                calls[diff.tool_call_index].first += diff.tool_call_delta.name;
                calls[diff.tool_call_index].second += diff.tool_call_delta.arguments;
            }
        }
        known = message;
    }
    return message_of(reasoning, content, calls);
}

static common_chat_parser_params params_of(const common_chat_templates * templates, const json & given) {
    common_chat_templates_inputs inputs;
    common_chat_msg question;
    question.role = "user";
    question.content = "?";
    inputs.messages = { question };
    inputs.tools = common_chat_tools_parse_oaicompat(given.at("tools"));
    inputs.parallel_tool_calls = true;
    inputs.reasoning_format = COMMON_REASONING_FORMAT_DEEPSEEK;  // the server's default
    inputs.enable_thinking = common_chat_templates_support_enable_thinking(templates);
    for (const auto & [name, value] : given.at("variables").items()) {
        inputs.chat_template_kwargs[name] = value.dump();
        if (name == "enable_thinking") {
            inputs.enable_thinking = value.dump() == "true";
        }
    }
    const auto made = common_chat_templates_apply(templates, inputs);
    common_chat_parser_params params(made);
    params.reasoning_format = inputs.reasoning_format;
    if (!made.parser.empty()) {
        params.parser.load(made.parser);
    }
    return params;
}

template <typename Read> static json attempt(Read read) {
    try {
        return read();
    } catch (const std::exception & error) {
        return std::string("raises ") + std::string(error.what()).substr(0, 200);
    }
}

int main() {
    common_log_pause(common_log_main());
    std::string line;
    std::getline(std::cin, line);
    common_chat_templates_ptr templates;
    const json refused = attempt([&]() -> json {
        templates = common_chat_templates_init(nullptr, json::parse(line).get<std::string>());
        return nullptr;
    });
    while (std::getline(std::cin, line)) {
        const json given = json::parse(line);
        json told = refused;
        if (refused.is_null()) {
            told = attempt([&]() -> json {
                const auto params = params_of(templates.get(), given);
                json found = json::array();
                found.push_back(attempt([&] { return whole(given.at("text").get<std::string>(), params); }));
                for (const auto & pieces : given.at("pieces")) {
                    found.push_back(attempt([&] { return streamed(pieces, params); }));
                }
                return found;
            });
        }
        std::cout << told.dump_safe() << std::endl;
    }
}
