/** /v1/files: the inputs and outputs of batches. */
import { createReadStream } from "node:fs";
import { Readable } from "node:stream";
import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { InferyardError, invalidInput } from "../../../../contract/errors.ts";
import { omitUndefined } from "../../../../contract/checked.ts";
import { ownerOf } from "../../../batches/batch-record.ts";
import { type ClientFile, nowSeconds } from "../../../batches/file-store.ts";
import { isForm, readForm } from "../../../http/bodies/form-body.ts";
import type { Env } from "../../../http/context.ts";
import { type Route, get } from "../../../http/routes/route.ts";
import type { Service } from "../../../serving/service.ts";
import { batchesOf, identityOf, pageOf } from "./owner.ts";

const fileSchema = z
  .object({
    id: z.string(),
    object: z.literal("file"),
    bytes: z.int(),
    created_at: z.int().openapi({ description: "In seconds since 1970" }),
    expires_at: z.int().nullable(),
    filename: z.string(),
    purpose: z.string(),
    status: z.literal("processed"),
  })
  .openapi("OpenAIFile");

/** Purposes with which clients upload files; the outputs of batches have `batch_output`. */
const purposes = ["batch", "user_data"] as const;

const uploadSchema = z
  .object({
    file: z.string().openapi({ format: "binary", description: "The file, at most `maxBodyBytes` with the rest of the form" }),
    purpose: z.enum(purposes).openapi({ description: "`batch`: the input of a batch" }),
    "expires_after[anchor]": z.literal("created_at").optional(),
    "expires_after[seconds]": z.string().optional().openapi({ description: "From 3600 to 2592000. Default: it does not expire" }),
  })
  .openapi("OpenAIFileUpload");

const listQuery = z.object({
  after: z.string().optional().openapi({ description: "Id of the last file of the page before" }),
  limit: z.coerce.number().int().min(1).max(10_000).optional().openapi({ description: "Default: 10000" }),
  order: z.enum(["asc", "desc"]).optional().openapi({ description: "By time of creation. Default: desc" }),
  purpose: z.string().max(64).optional().openapi({ description: "Only files with this purpose" }),
});

const fileParameter = { file: "Id of a file" };
const path = "/v1/files";

/** The routes of files. */
export function fileRoutes(service: Service): Route[] {
  const find = (context: Context<Env>): Promise<ClientFile> =>
    batchesOf(service).files.get(context.req.param("file") ?? "", ownerOf(identityOf(context)));
  return [
    {
      method: "post",
      path,
      summary: "Upload a file, as OpenAI",
      request: { body: { required: true, content: { "multipart/form-data": { schema: uploadSchema } } } },
      description: "The file",
      response: fileSchema,
      answer: async (context) => context.json(toJson(await upload(service, context)), 200),
    },
    get({
      path,
      summary: "List the files of the client, as OpenAI",
      query: listQuery,
      description: "The files, the newest first",
      response: z
        .object({
          object: z.literal("list"),
          data: z.array(fileSchema),
          first_id: z.string().nullable(),
          last_id: z.string().nullable(),
          has_more: z.boolean(),
        })
        .openapi("OpenAIFiles"),
      answer: async ({ after, limit = 10_000, order = "desc", purpose }, context) => {
        const all = await batchesOf(service).files.list(ownerOf(identityOf(context)));
        const fitting = all.filter((file) => purpose === undefined || file.purpose === purpose);
        const { items, hasMore } = pageOf(order === "asc" ? fitting : fitting.toReversed(), { after, limit });
        const ids = { first_id: items[0]?.id ?? null, last_id: items.at(-1)?.id ?? null };
        return context.json({ object: "list", data: items.map(toJson), ...ids, has_more: hasMore }, 200);
      },
    }),
    {
      method: "get",
      path: `${path}/{file}`,
      parameters: fileParameter,
      summary: "One file, as OpenAI",
      description: "The file",
      response: fileSchema,
      answer: async (context) => context.json(toJson(await find(context)), 200),
    },
    {
      method: "get",
      path: `${path}/{file}/content`,
      parameters: fileParameter,
      summary: "The content of a file, as OpenAI",
      description: "The bytes of the file",
      media: { "application/octet-stream": z.string().openapi({ format: "binary" }) },
      answer: async (context) => {
        const { id, bytes } = await find(context);
        const stream = Readable.toWeb(createReadStream(batchesOf(service).files.path(id))) as ReadableStream;
        return context.body(stream, 200, { "content-type": "application/octet-stream", "content-length": String(bytes) });
      },
    },
    {
      method: "delete",
      path: `${path}/{file}`,
      parameters: fileParameter,
      summary: "Delete a file, as OpenAI",
      description: "That it is deleted",
      response: z.object({ id: z.string(), object: z.literal("file"), deleted: z.literal(true) }).openapi("OpenAIDeletedFile"),
      answer: async (context) => {
        const id = context.req.param("file") ?? "";
        await batchesOf(service).files.remove(id, ownerOf(identityOf(context)));
        return context.json({ id, object: "file", deleted: true }, 200);
      },
    },
  ];
}

async function upload(service: Service, context: Context<Env>): Promise<ClientFile> {
  const { files: store } = batchesOf(service);
  if (!isForm(context))
    throw new InferyardError("MEDIA_TYPE_UNSUPPORTED", "this route does not support the content-type of the request", {
      remedy: "send multipart/form-data with the content in the field file, and purpose",
    });
  const { fields, files } = await readForm(context);
  const file = files.find(({ field }) => field === "file");
  if (file === undefined || files.length > 1)
    throw invalidInput("the form must have one file, in the field file", undefined, { path: ["file"] });
  const { purpose } = fields;
  if (!purposes.some((known) => known === purpose))
    throw invalidInput(`purpose must be one of ${purposes.join(", ")}`, undefined, { path: ["purpose"] });
  return await store.add(file.bytes, {
    filename: file.name.slice(0, 255),
    purpose: purpose ?? "",
    owner: ownerOf(identityOf(context)),
    ...omitUndefined({ expires: readExpiry(fields) }),
  });
}

/** When the file expires, in seconds since 1970; undefined if it does not. */
function readExpiry(fields: Readonly<Record<string, string>>): number | undefined {
  const [anchor, seconds] = [fields["expires_after[anchor]"], fields["expires_after[seconds]"]];
  if (anchor === undefined && seconds === undefined) return undefined;
  const time = Number(seconds);
  if (anchor !== "created_at" || !Number.isInteger(time) || time < 3600 || time > 2_592_000)
    throw invalidInput("expires_after has the anchor created_at and from 3600 to 2592000 seconds", undefined, {
      path: ["expires_after"],
    });
  return nowSeconds() + time;
}

function toJson({ id, bytes, created, expires, filename, purpose }: ClientFile): z.infer<typeof fileSchema> {
  return { id, object: "file", bytes, created_at: created, expires_at: expires ?? null, filename, purpose, status: "processed" };
}
