/** Derives the options and results of calls from the types of the OpenAPI document. */
import type { paths } from "./generated-openapi.ts";

/** HTTP methods of the routes. */
export type Method = "get" | "post";

/** Paths that have the method. */
export type PathOf<Verb extends Method> = {
  [Path in keyof paths]: paths[Path] extends Readonly<Record<Verb, object>> ? Path : never;
}[keyof paths];

/** The operation of one method of one path in the OpenAPI document. */
export type ClientOperation<Verb extends Method, Path extends PathOf<Verb>> = paths[Path][Verb];

/** Options of every call. */
export interface CommonOptions {
  /** Headers in addition to the headers of the client: x-inferyard-target, x-inferyard-model, x-inferyard-priority, x-request-id. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Aborts the call and its work on the server; `AbortSignal.timeout(ms)` sets a timeout. Default: no timeout of the client. */
  readonly signal?: AbortSignal;
}

/** Options of a call: path parameters, query and JSON body, as far as the operation has them. */
export type CallOptions<Of> = CommonOptions &
  Field<"path", ParameterOf<Of, "path">> &
  Field<"query", ParameterOf<Of, "query">> &
  Field<"body", BodyOf<Of>>;

/** Media types of the response. */
export type MediaOf<Of> = [ContentOf<Of>] extends [never] ? never : keyof ContentOf<Of> & string;

/** The media type requested by default: JSON if there is one. */
export type DefaultMedia<Of> = "application/json" extends MediaOf<Of> ? "application/json" : MediaOf<Of>;

/** Type of the data of a response with this media type; undefined if it has no body. */
export type ResponseDataOf<Of, Media> = [MediaOf<Of>] extends [never]
  ? undefined
  : Media extends "application/json"
    ? ContentOf<Of>[Media & keyof ContentOf<Of>]
    : Media extends "application/octet-stream"
      ? ArrayBuffer
      : Media extends "text/event-stream"
        ? ReadableStream<Uint8Array>
        : string;

/** Never where the document has `content?: never`. */
type ContentOf<Of> = Of extends { responses: { 200: { content: infer Content extends object } } } ? Content : never;

type ParameterOf<Of, Place extends "path" | "query"> = Of extends { parameters: { [Name in Place]?: infer Value } }
  ? Exclude<Value, undefined>
  : never;

type BodyOf<Of> = Of extends { requestBody: { content: { "application/json": infer Body } } }
  ? Body
  : Of extends { requestBody?: { content: { "application/json": infer Body } } }
    ? Body | undefined
    : never;

/** Omitted where the operation has no such field; optional if all of its members are. */
type Field<Name extends string, Value> = [Value] extends [never]
  ? unknown
  : undefined extends Value
    ? { readonly [Field in Name]?: Exclude<Value, undefined> }
    : Partial<Value> extends Value
      ? { readonly [Field in Name]?: Value }
      : { readonly [Field in Name]: Value };
