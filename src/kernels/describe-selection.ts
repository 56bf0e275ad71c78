/** Sentences about selections of kernels. */
import type { KernelSelection } from "./select-kernel.ts";

/**
 * One sentence for the evidence, without a full stop: the kernel for a format, and why kernels before it were refused. Kernels that are not built are mentioned
 * only if they were preferred and so tried before the selected one.
 */
export function describeSelection({ request, candidates, selected }: KernelSelection): string {
  const position = selected === undefined ? candidates.length : candidates.findIndex(({ id }) => id === selected.id);
  const refused = candidates
    .slice(0, position)
    .flatMap((each) => (each.verdict === "refused" ? [`; not ${each.id}: ${each.reason}`] : []));
  const chosen = candidates[position];
  const what = chosen === undefined ? "no kernel, the interpreter computes its products" : `${chosen.id} (${chosen.reason})`;
  return `kernel for ${request.format}: ${what}${refused.join("")}`;
}
