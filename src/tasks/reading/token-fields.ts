/** Fields in a text with tags, as Donut (Kim et al. 2021, https://arxiv.org/abs/2111.15664) writes them: what `DonutProcessor.token2json` of transformers makes of it. */

/** A field: a text, a list, or further fields by name. */
export type ReadFieldValue = string | readonly ReadFieldValue[] | { readonly [name: string]: ReadFieldValue };

const separator = "<sep/>";

/**
 * `<s_name>...</s_name>` becomes the field `name`; values separated by `<sep/>` become lists, and fields within fields objects. A tag without its end is left out. Tokens
 * such as `<yes/>`, of `addedTokens`, stand for their names where they are a whole value. A text without fields is `{ text_sequence }`.
 */
export function readTokenFields(text: string, addedTokens: ReadonlySet<string>): ReadFieldValue {
  const { fields, rest, following } = readFields(text, addedTokens);
  if (following !== undefined) return [fields, ...readList(following, addedTokens)];
  return Object.keys(fields).length > 0 ? fields : { text_sequence: rest };
}

/** Groups of fields that are separated from each other. */
function readList(text: string, addedTokens: ReadonlySet<string>): readonly ReadFieldValue[] {
  const groups: ReadFieldValue[] = [];
  for (let remaining: string | undefined = text; remaining !== undefined;) {
    const { fields, following } = readFields(remaining, addedTokens);
    if (following !== undefined || Object.keys(fields).length > 0) groups.push(fields);
    remaining = following;
  }
  return groups;
}

interface FieldGroup {
  readonly fields: Readonly<Record<string, ReadFieldValue>>;
  /** What no field was found in. */
  readonly rest: string;
  /** What follows a separator behind the last field; undefined if there is none. */
  readonly following?: string;
}

/** The fields of a text up to a separator between groups. */
function readFields(text: string, addedTokens: ReadonlySet<string>): FieldGroup {
  const fields = new Map<string, ReadFieldValue>();
  for (let rest = text; ;) {
    const start = /<s_(.*?)>/i.exec(rest);
    if (start === null) return { fields: Object.fromEntries(fields), rest };
    const [open, name = ""] = start;
    const close = findTag(rest, `</s_${name}>`, 0)?.tag;
    if (close === undefined) {
      rest = rest.replaceAll(open, "");
      continue;
    }
    const content = contentBetween(rest, open, close);
    if (content !== undefined) {
      const value = readValue(content.trim(), addedTokens);
      if (value !== undefined) fields.set(name, value);
    }
    rest = rest.slice(rest.indexOf(close) + close.length).trim();
    if (rest.startsWith(separator)) return { fields: Object.fromEntries(fields), rest, following: rest.slice(separator.length) };
  }
}

/** The first occurrence of a tag from `from` on, in upper or lower case, as it is written there. */
function findTag(text: string, tag: string, from: number): { readonly at: number; readonly tag: string } | undefined {
  const at = text.toLowerCase().indexOf(tag.toLowerCase(), from);
  return at < 0 ? undefined : { at, tag: text.slice(at, at + tag.length) };
}

function contentBetween(text: string, open: string, close: string): string | undefined {
  const start = findTag(text, open, 0);
  if (start === undefined) return undefined;
  const from = start.at + open.length;
  const end = findTag(text, close, from);
  return end === undefined ? undefined : text.slice(from, end.at);
}

/** A value that has fields itself, or one or several texts. Undefined where no field was found in it. */
function readValue(content: string, addedTokens: ReadonlySet<string>): ReadFieldValue | undefined {
  const values =
    content.includes("<s_") && content.includes("</s_")
      ? readList(content, addedTokens)
      : content.split(separator).map((each) => readLeaf(each.trim(), addedTokens));
  return values.length === 1 ? values[0] : values.length === 0 ? undefined : values;
}

function readLeaf(text: string, addedTokens: ReadonlySet<string>): string {
  return addedTokens.has(text) && text.startsWith("<") && text.endsWith("/>") ? text.slice(1, -2) : text;
}
