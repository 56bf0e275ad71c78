/** Fields of others' servers that say whether, and how long, a model thinks before it answers. */
import { z } from "@hono/zod-openapi";
import { omitUndefined } from "../../../contract/checked.ts";
import { members, requestObject } from "../../http/field-schemas.ts";

/** Fields of requests. */
export interface ThinkingRequest {
  /** OpenAI. */
  readonly reasoning_effort?: string | undefined;
  /** OpenRouter, and OpenAI's responses. */
  readonly reasoning?: { readonly effort?: string | undefined; readonly enabled?: boolean | undefined } | undefined;
  /** Z.ai, DeepSeek, Moonshot. */
  readonly thinking?: { readonly type?: string | undefined } | undefined;
  /** Alibaba, SiliconFlow, SGLang. */
  readonly enable_thinking?: boolean | undefined;
  /** vLLM, SGLang, llama.cpp. */
  readonly chat_template_kwargs?: Readonly<Record<string, unknown>> | undefined;
}

/** Schemas of the fields. */
export const thinkingFields: { readonly [Name in keyof ThinkingRequest]-?: z.ZodType<ThinkingRequest[Name]> } = {
  reasoning_effort: z
    .string()
    .optional()
    .openapi({ description: "Given to the model's chat template as `reasoning_effort`; `none` turns thinking off" }),
  reasoning: requestObject({ effort: z.string().optional(), enabled: z.boolean().optional() })
    .optional()
    .openapi({ description: "As OpenRouter: `effort` as `reasoning_effort`, `enabled` as `enable_thinking`" }),
  thinking: requestObject({ type: z.string().optional() })
    .optional()
    .openapi({ description: "As Z.ai and DeepSeek: the type `disabled` turns thinking off" }),
  enable_thinking: z.boolean().optional().openapi({ description: "As SGLang: the variable of the model's chat template" }),
  chat_template_kwargs: members().optional().openapi({ description: "As vLLM: further variables of the model's chat template" }),
};

/** The variables of the chat template that the fields set; `chat_template_kwargs` takes precedence over all others. */
export function thinkingVariables(request: ThinkingRequest): { readonly templateVariables?: Readonly<Record<string, unknown>> } {
  const { reasoning_effort: stated, reasoning, thinking, enable_thinking: enabled, chat_template_kwargs: others } = request;
  const effort = stated ?? reasoning?.effort;
  const type = thinking?.type;
  const isOn = enabled ?? reasoning?.enabled ?? (type === undefined ? undefined : type !== "disabled");
  const thinks = isOn ?? (effort === undefined ? undefined : effort !== "none");
  if (effort === undefined && thinks === undefined && others === undefined) return {};
  return {
    templateVariables: {
      ...omitUndefined({ reasoning_effort: effort, enable_thinking: thinks }),
      ...others,
    },
  };
}
