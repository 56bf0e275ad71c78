/** One file from an address, with the digest it must have. */
import { recordName } from "../store/lookup.ts";
import { canonicalName, type UrlReference } from "../reference/remote-reference.ts";
import { obtain } from "./obtain-file.ts";
import { publish } from "./publish.ts";
import type { PullReport, Pulling } from "./pull-session.ts";

export async function pullFile(reference: UrlReference, pulling: Pulling): Promise<PullReport> {
  const { url, file, sha256 } = reference;
  const { layout, network, meter, signal } = pulling;
  const stored = await obtain({ path: file, sha256, url, what: url }, { layout, network, meter, signal });
  const publication = { name: recordName(reference), reference: canonicalName(reference), source: url };
  return await publish({ ...publication, variants: [], files: [stored] }, pulling);
}
