/**
 * Runs schemas of requests so that unknown fields are told apart from faults. zod reports unknown fields as issues that do not abort: the value is read
 * nevertheless, without them, and their paths are completed on the way to the root like paths of faults.
 */
import type { z } from "@hono/zod-openapi";
import { isObject } from "../../../contract/shapes/shape.ts";

/** An issue whose message is not made yet. */
export type Issue = z.core.$ZodRawIssue;

/** Result of a schema for a value. */
export interface SchemaRun {
  readonly value: unknown;
  readonly issues: readonly Issue[];
}

/** Fields that an issue says are left out. */
interface Ignorable {
  readonly paths: readonly (readonly PropertyKey[])[];
  /** Number of further fields, without their paths. */
  readonly unnamed: number;
}

/** Issues about unknown fields that one list may have; the fields of further ones are counted. */
const issuesPerList = 64;

/** Runs a schema whose checks are synchronous. */
export function runSchema(schema: z.ZodType, value: unknown): SchemaRun {
  const run = schema._zod.run({ value, issues: [] }, { async: false });
  if (run instanceof Promise) throw new TypeError("a schema of a request has an asynchronous check");
  return run;
}

/** An issue for a part of a request that is left out: it makes the request invalid only where fields are strict. `path`: from the value checked. */
export function ignorableIssue(path: PropertyKey[], message: string): Issue {
  return { code: "custom", path, message, input: undefined, params: { ignorable: true }, continue: true };
}

/**
 * Fields in which clients send pictures, sounds and videos. Without them the answer would be about something else, so that they are faults where a route does not
 * know them, even where unknown fields are left out.
 */
const mediaFields: ReadonlySet<string> = new Set([
  "audio_url",
  "audios",
  "image",
  "image_data",
  "image_url",
  "images",
  "input_audio",
  "input_image",
  "multi_modal_data",
  "multimodal_data",
  "video",
  "video_url",
  "videos",
]);

/** The unknown fields of an issue that hold pictures, sounds or videos. */
export function getMediaFields(issue: Issue): readonly string[] {
  if (issue.code !== "unrecognized_keys") return [];
  const { keys, input } = issue;
  const values: ReadonlyMap<string, unknown> = new Map(Object.entries(isObject(input) ? input : {}));
  return keys.filter((key) => {
    const value = values.get(key);
    return (
      mediaFields.has(key) &&
      value !== undefined &&
      value !== null &&
      value !== "" &&
      !(Array.isArray(value) && value.length === 0)
    );
  });
}

/** The fields that an issue reports as left out; undefined for a fault. */
export function getIgnorable(issue: Issue): Ignorable | undefined {
  if (getMediaFields(issue).length > 0) return undefined;
  const { path = [] } = issue;
  const unnamed = (issue["unnamed"] as number | undefined) ?? 0;
  if (issue.code === "unrecognized_keys") return { paths: issue["keys"].map((key) => [...path, key]), unnamed };
  const { ignorable = false } = (issue["params"] ?? {}) as { readonly ignorable?: boolean };
  return ignorable ? { paths: [path], unnamed } : undefined;
}

/** The issues of the elements of a list, or of the members of an object. */
export class ElementIssues {
  #issues: Issue[] = [];
  #unnamed = 0;

  /** Adds the issues of the element `key`. Returns whether one of them is a fault, which then replaces all others. */
  add(key: PropertyKey, issues: readonly Issue[]): boolean {
    for (const issue of issues) {
      const placed = { ...issue, path: [key, ...(issue.path ?? [])] };
      const ignorable = getIgnorable(issue);
      if (ignorable === undefined) {
        this.#issues = [placed];
        return true;
      }
      if (this.#issues.length < issuesPerList) this.#issues.push(placed);
      else this.#unnamed += ignorable.paths.length + ignorable.unnamed;
    }
    return false;
  }

  /** The issues of all elements. */
  get issues(): readonly Issue[] {
    const [first, ...others] = this.#issues;
    if (first === undefined || this.#unnamed === 0) return this.#issues;
    return [{ ...first, unnamed: this.#unnamed + ((first["unnamed"] as number | undefined) ?? 0) }, ...others];
  }
}
