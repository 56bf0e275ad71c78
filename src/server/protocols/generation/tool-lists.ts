/** Lists of tools in requests: those that the client runs, and those that only the server of their provider could run. */
import type { z } from "@hono/zod-openapi";
import { omitUndefined } from "../../../contract/checked.ts";
import type { ChatRequest } from "../../../api/task-requests.ts";
import type { Tool } from "../../../tasks/generation/chat/messages.ts";
import { ignorableIssue } from "../../http/fields/schema-run.ts";
import { isObject } from "../../../contract/shapes/shape.ts";
import { listField, members, oneOfFields } from "../../http/field-schemas.ts";

type Fields = Readonly<Record<string, unknown>>;

/**
 * A list of tools whose kind selects one of the schemas. Tools of other kinds are run by a provider's server and not here: they are left out if the list also
 * has tools of the known kinds, and refused otherwise. `kindOf`: the kind of a tool with this type. Default: the type.
 */
export function toolList<Field>(
  kinds: Readonly<Record<string, z.ZodType<Field>>>,
  kindOf: (type: unknown) => string = String,
): z.ZodType<Field[]> {
  const getType = (tool: unknown): string => kindOf(isObject(tool) ? (tool["type"] ?? undefined) : undefined);
  const known = Object.entries(kinds).map(([type, schema]) => ({
    schema,
    fits: (tool: unknown) => isObject(tool) && getType(tool) === type,
  }));
  const other = { schema: members() as z.ZodType as z.ZodType<Field>, fits: isObject };
  return listField(oneOfFields("a tool", [...known, other])).check((context) => {
    const tools: readonly unknown[] = context.value;
    const isKnown = (tool: unknown): boolean => Object.hasOwn(kinds, getType(tool));
    const others = [...tools.entries()].filter(([, tool]) => !isKnown(tool));
    if (others.length === 0) return;
    const isMissed = !tools.some(isKnown) && others.some(([, tool]) => !isWithoutAccess(tool as Fields));
    for (const [index, tool] of others) {
      const message = `a tool of type ${JSON.stringify(String((tool as Fields)["type"]).slice(0, 80))} is run by its provider's server, not here`;
      context.issues.push(
        isMissed
          ? { code: "custom", path: [index], message: `${message}, and there is no other tool`, input: undefined }
          : ignorableIssue([index], message),
      );
    }
    context.value = tools.filter(isKnown) as Field[];
  });
}

/** Whether a search of the web says that it needs none: its absence is not seen then. */
function isWithoutAccess({ external_web_access: access }: Fields): boolean {
  return access === false;
}

/** A tool that takes free text, as a function of one text: models are trained to call functions alone. */
export function textTool(name: string, description: string | undefined): Tool {
  return {
    name,
    ...omitUndefined({ description }),
    parameters: {
      type: "object",
      properties: { [textField]: { type: "string", description: "The whole input of the tool" } },
      required: [textField],
      additionalProperties: false,
    },
  };
}

const textField = "input";

/** The arguments of a call of a `textTool` with this text, as JSON. */
export function argumentsOfText(text: string): string {
  return JSON.stringify({ [textField]: text });
}

/** The text of a call of a `textTool`; arguments that are none, since the answer was cut or the model wrote something else, are the text themselves. */
export function textOfArguments(given: string): string {
  try {
    const value: unknown = JSON.parse(given);
    const text = isObject(value) ? value[textField] : undefined;
    return typeof text === "string" ? text : given;
  } catch {
    return given;
  }
}

/** Which tools may be called, and whether one must be, of OpenAI's `tool_choice`. */
export interface WrittenChoice {
  readonly choice?: ChatRequest["toolChoice"];
  /** Names of the tools that may be called. Default: all. */
  readonly allowed?: readonly string[];
}

/** The tools that a choice allows, and the choice, as options of `chat`. */
export function chosenToolList(
  tools: readonly Tool[],
  { choice, allowed }: WrittenChoice,
): Pick<ChatRequest, "tools" | "toolChoice"> {
  const list = allowed === undefined ? tools : tools.filter(({ name }) => allowed.includes(name));
  return { ...(list.length === 0 ? {} : { tools: list }), ...omitUndefined({ toolChoice: choice }) };
}
