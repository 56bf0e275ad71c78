/** Pulls a single file from a URL. */
import { recordName } from "../store/lookup.ts";
import { canonicalName, type UrlReference } from "../reference/remote-reference.ts";
import { obtainFile } from "./obtain-file.ts";
import { publish } from "./publish.ts";
import type { PullReport, PullSession } from "./pull-session.ts";

/**
 * Pulls the file of a URL reference into the store. Throws DOWNLOAD_FAILED if its digest is not the one in the reference, and otherwise the errors of
 * `ModelStore.pull`.
 */
export async function pullFile(reference: UrlReference, pulling: PullSession): Promise<PullReport> {
  const { url, file, sha256 } = reference;
  const { layout, network, meter, signal } = pulling;
  const stored = await obtainFile({ path: file, sha256, url, what: url }, { layout, network, meter, signal });
  const publication = { name: recordName(reference), reference: canonicalName(reference), source: url };
  return await publish({ ...publication, variants: [], files: [stored] }, pulling);
}
