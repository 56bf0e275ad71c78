/** From the OpenAPI document's types to what a call takes and gives. Types alone. */
import type { paths } from "./generated-openapi.ts";

export type Method = "get" | "post";

/** Paths that have a method. */
export type PathOf<Verb extends Method> = {
  [Path in keyof paths]: paths[Path] extends Readonly<Record<Verb, object>> ? Path : never;
}[keyof paths];

/** What the document says of one method of one path. */
export type Operation<Verb extends Method, Path extends PathOf<Verb>> = paths[Path][Verb];

/** What belongs to every call. */
export interface CommonOptions {
  /** Beside those of the client: x-inferyard-target, x-inferyard-model, x-inferyard-priority, x-request-id. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Ends the call, and with it the work on the server; `AbortSignal.timeout(ms)` bounds it. Default: it may take as long as the server lets it. */
  readonly signal?: AbortSignal;
}

/** What one call takes. A body is JSON; what a route has not is no option. */
export type CallOptions<Of> = CommonOptions &
  Field<"path", ParameterOf<Of, "path">> &
  Field<"query", ParameterOf<Of, "query">> &
  Field<"body", BodyOf<Of>>;

/** Forms of the answer. */
export type MediaOf<Of> = [ContentOf<Of>] extends [never] ? never : keyof ContentOf<Of> & string;

/** The form that is asked for unless another is named: JSON where there is one. */
export type DefaultMedia<Of> = "application/json" extends MediaOf<Of> ? "application/json" : MediaOf<Of>;

/** What an answer of one form becomes; undefined where it has no body. */
export type ResponseDataOf<Of, Media> = [MediaOf<Of>] extends [never]
  ? undefined
  : Media extends "application/json"
    ? ContentOf<Of>[Media & keyof ContentOf<Of>]
    : Media extends "application/octet-stream"
      ? ArrayBuffer
      : Media extends "text/event-stream"
        ? ReadableStream<Uint8Array>
        : string;

/** Nothing where the document has `content?: never`. */
type ContentOf<Of> = Of extends { responses: { 200: { content: infer Content extends object } } } ? Content : never;

type ParameterOf<Of, Place extends "path" | "query"> = Of extends { parameters: { [Name in Place]?: infer Value } }
  ? Exclude<Value, undefined>
  : never;

type BodyOf<Of> = Of extends { requestBody: { content: { "application/json": infer Body } } }
  ? Body
  : Of extends { requestBody?: { content: { "application/json": infer Body } } }
    ? Body | undefined
    : never;

/** Left out where the route has none; optional where everything in it is. */
type Field<Name extends string, Value> = [Value] extends [never]
  ? unknown
  : undefined extends Value
    ? { readonly [Field in Name]?: Exclude<Value, undefined> }
    : Partial<Value> extends Value
      ? { readonly [Field in Name]?: Value }
      : { readonly [Field in Name]: Value };
