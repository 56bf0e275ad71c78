/** The request of /v1/embeddings: OpenAI's fields, and fields that clients of Voyage, Mixedbread, Jina and NVIDIA send to the same path. */
import { z } from "@hono/zod-openapi";
import { omitUndefined } from "../../../contract/checked.ts";
import type { InferyardError } from "../../../contract/errors.ts";
import { invalidInput } from "../../../contract/errors.ts";
import { isObject } from "../../../contract/shapes/shape.ts";
import {
  arrayAlternative,
  isNumberField,
  isText,
  listField,
  modelField,
  nameField,
  oneOfFields,
  requestObject,
  textField,
  texts,
  tokenIds,
} from "../../http/field-schemas.ts";
import { type RequestForm, requestForm } from "../../http/routes/request-form.ts";
import type { EmbedCall } from "../embed-texts.ts";
import { type EmbeddingType, embeddingTypes } from "../embedding-types.ts";
import { useWords } from "../input-type.ts";
import { type ContentPart, contentPart, readPart } from "../media/content-parts.ts";
import { pictureOfUrl } from "../media/picture-url.ts";
import { ttlField } from "../ollama/keep-alive.ts";
import { toTruncation } from "../truncation.ts";

type Input = string | string[] | number[] | number[][] | ContentPart[];

const format = z.enum(embeddingTypes);
const formats: z.ZodType<EmbeddingType | EmbeddingType[]> = oneOfFields<EmbeddingType | EmbeddingType[]>(
  "the name of a format, or an array of such names",
  [
    { schema: format, fits: isText },
    { schema: listField(format, { min: 1, max: embeddingTypes.length }), fits: Array.isArray },
  ],
);
const message = requestObject({
  role: z.literal("user"),
  content: oneOfFields<string | ContentPart[]>("a text, or a list of one part", [
    textField,
    arrayAlternative(listField(contentPart, { min: 1, max: 1 }), () => true),
  ]),
});
const truncations = ["cut", "error", "windows", "NONE", "START", "END"] as const;

const getSchema = (limit: number) =>
  requestObject({
    model: modelField.openapi({ example: "builtin" }),
    input: getInput(limit).optional().openapi({
      description:
        "A text, a list of texts, or a list of parts: objects with `text`, or pictures as data URLs, { image } or { type: image_url }; or texts as token ids: with the special tokens of the model's own tokenizer around them, or as the server's setting tokenIds says",
      example: "hello",
    }),
    messages: listField(message, { min: 1, max: 1 }).optional().openapi({
      description: "vLLM: in the place of input, one message of a user whose content is a text or one part",
    }),
    encoding_format: formats.optional().openapi({
      description:
        "`base64`: little-endian 32-bit floats, or with output_dtype the bytes of that type. Mixedbread: also the types of output_dtype, and several in a list. Default: float",
    }),
    output_dtype: z.enum(["float", "int8", "uint8", "binary", "ubinary"]).optional().openapi({
      description:
        "Voyage: type of the numbers. int8: 127 times the unit vector, rounded; uint8: the same plus 128; ubinary: one bit for each dimension, 1 for positive numbers, eight in a byte; binary: the same minus 128. Default: float",
    }),
    embedding_type: formats.optional().openapi({ description: "Jina: as encoding_format" }),
    dimensions: z.int().positive().optional().openapi({ description: "Number of leading dimensions to keep" }),
    output_dimension: z.int().positive().optional().openapi({ description: "The same, as Voyage names it" }),
    input_type: z.enum(useWords).optional().openapi({
      description:
        "Voyage, NVIDIA, Cohere: what the texts are for; selects the model's prompt of that use. Without effect on models without such prompts",
    }),
    task: z.enum(useWords).optional().openapi({ description: "The same, as Jina names it" }),
    normalized: z.boolean().optional().openapi({
      description: "Mixedbread, Jina: whether vectors are scaled to unit length. Default: what the model's files state",
    }),
    ttl: ttlField,
    user: nameField().optional().openapi({ description: "Accepted and ignored" }),
    truncation: z
      .boolean()
      .optional()
      .openapi({ description: "Voyage: whether longer texts are truncated; otherwise they are refused" }),
    truncate: z
      .union([z.enum(truncations), z.boolean()])
      .optional()
      .openapi({
        description:
          "What to do with texts longer than the model reads: cut (END, true) keeps their beginning, error (NONE, false) refuses them, windows embeds all parts; START is not built. Default: error, as with OpenAI",
      }),
    modality: z
      .enum(["text", "image"])
      .optional()
      .openapi({ description: "NVIDIA, Infinity: `image`: all inputs are pictures, as data URLs. Default: text" }),
    late_chunking: z.literal(false).optional().openapi({ description: "Jina: not built; /api/chunk has late chunks" }),
    return_multivector: z.literal(false).optional().openapi({ description: "Jina: not built here; see /api/embed/outputs" }),
  }).openapi("OpenAIEmbeddingsRequest");

type Request = z.infer<ReturnType<typeof getSchema>>;

/** How the vectors are sent. */
export interface VectorForm {
  readonly formats: readonly EmbeddingType[];
  /** Whether a vector is an object by format. */
  readonly isList: boolean;
  /** Whether numbers are sent as the base64 of their bytes. */
  readonly bytes: boolean;
}

/** Requests for embeddings. `limit`: maximum number of texts. */
export const embeddingsForm = (limit: number): RequestForm<EmbedCall & VectorForm> =>
  requestForm(getSchema(limit), (request) => {
    const dimensions = eitherOf(request, "dimensions", "output_dimension");
    const truncate = toTruncation(eitherOf(request, "truncate", "truncation"), "error");
    const form = getFormats(request);
    return {
      model: request.model,
      inputs: toInputs(request),
      options: { ...omitUndefined({ dimensions, normalize: request.normalized }), truncate },
      use: eitherOf(request, "input_type", "task"),
      keepAlive: request.ttl,
      ...form,
    };
  });

/** The inputs as a list; an array of numbers is one text. Throws INPUT_INVALID without inputs, and for what is no picture where all are to be. */
function toInputs({ input, messages, modality = "text" }: Request): EmbedCall["inputs"] {
  if (input !== undefined && messages !== undefined) throw contradiction("input", "messages");
  if (input === undefined) return toContents(messages);
  const list: readonly (string | readonly number[] | ContentPart)[] = typeof input === "string" || isIds(input) ? [input] : input;
  return list.map((one, index) => {
    const path = typeof input === "string" ? "input" : `input.${index}`;
    const read = isPart(one) ? readPart(one, path) : one;
    if (modality === "text" || (typeof read === "object" && "image" in read)) return read;
    if (typeof read === "string") return { image: pictureOfUrl(read, path) };
    throw invalidInput(`${path} is a list of token ids, and modality is "image"`, "send data URLs of pictures", {
      path: ["input"],
    });
  });
}

/** The contents of messages, as vLLM takes what is embedded. */
function toContents(messages: Request["messages"]): EmbedCall["inputs"] {
  if (messages === undefined)
    throw invalidInput("the request has no input", "send a text, or a list of texts, in `input`", { path: ["input"] });
  return messages.flatMap(({ content }, index) =>
    typeof content === "string" ? [content] : content.map((part, place) => readPart(part, `messages.${index}.content.${place}`)),
  );
}

function getFormats(request: Request): VectorForm {
  const { output_dtype: type } = request;
  const stated = eitherOf(request, "encoding_format", "embedding_type") ?? "float";
  if (Array.isArray(stated)) return { formats: [...new Set(stated)], isList: true, bytes: false };
  if (type === undefined || type === "float") return { formats: [stated], isList: false, bytes: false };
  if (stated === "base64") return { formats: [type], isList: false, bytes: true };
  if (stated === "float" || stated === type) return { formats: [type], isList: false, bytes: false };
  throw contradiction("encoding_format", "output_dtype");
}

/** The value of one of two fields with the same meaning. */
function eitherOf<One extends keyof Request, Other extends keyof Request>(
  request: Request,
  one: One,
  other: Other,
): Request[One] | Request[Other] {
  if (request[one] !== undefined && request[other] !== undefined) throw contradiction(one, other);
  return request[one] ?? request[other];
}

function contradiction(one: string, other: string): InferyardError {
  return invalidInput(`the request has both ${one} and ${other}`, "send one of them", { path: [other] });
}

function getInput(limit: number): z.ZodType<Input> {
  return oneOfFields<Input>(
    "a string, or an array of strings, of objects with text or a picture, of token ids, or of arrays of token ids",
    [
      textField,
      arrayAlternative(texts(limit, 1), isText),
      arrayAlternative(tokenIds(1), isNumberField),
      arrayAlternative(listField(tokenIds(1), { min: 1, max: limit }), Array.isArray),
      arrayAlternative(listField(contentPart, { min: 1, max: limit }), isObject),
    ],
  );
}

function isPart(input: string | readonly number[] | ContentPart): input is ContentPart {
  return isObject(input);
}

function isIds(input: readonly (string | number | readonly number[] | ContentPart)[]): input is readonly number[] {
  return typeof input[0] === "number";
}
