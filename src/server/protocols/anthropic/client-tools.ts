/**
 * Tools that Anthropic defines by a type and clients run: their models know the arguments, which others must be told.
 * https://docs.anthropic.com/en/docs/agents-and-tools/tool-use/overview, November 2026.
 */
import type { Tool } from "../../../tasks/generation/chat/messages.ts";

const string = { type: "string" };
const path = { type: "string", description: "Absolute path of a file or folder" };
const line = { type: "integer" };

function tool(description: string, properties: object, required: readonly string[]): Omit<Tool, "name"> {
  return { description, parameters: { type: "object", properties, required, additionalProperties: false } };
}

const edits = {
  path,
  file_text: { ...string, description: "Content of the file, for create" },
  old_str: { ...string, description: "Text to replace, which the file has once, for str_replace" },
  new_str: { ...string, description: "What stands in its place, for str_replace" },
  insert_line: { ...line, description: "Line after which text is inserted, 0 for the beginning, for insert" },
  insert_text: { ...string, description: "Text to insert, for insert" },
  view_range: { type: "array", items: line, description: "First and last line to show, for view" },
};

/** The description and the arguments of each kind of tool: its type without the date. */
export const clientTools: Readonly<Record<string, Omit<Tool, "name">>> = {
  bash: tool(
    "Runs a command in a shell that stays open between calls.",
    {
      command: { ...string, description: "The command; not needed to restart" },
      restart: { type: "boolean", description: "Whether the shell is started again" },
    },
    [],
  ),
  text_editor: tool(
    "Shows, creates and edits text files.",
    { command: { ...string, enum: ["view", "create", "str_replace", "insert"] }, ...edits },
    ["command", "path"],
  ),
  memory: tool(
    "Reads and writes files in the folder /memories, which stays between conversations.",
    {
      command: { ...string, enum: ["view", "create", "str_replace", "insert", "delete", "rename"] },
      ...edits,
      old_path: { ...path, description: "For rename" },
      new_path: { ...path, description: "For rename" },
    },
    ["command"],
  ),
};
