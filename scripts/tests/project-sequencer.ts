/**
 * Order of the test files: project by project, since vitest ends a process that several files share as soon as the next file in its queue is of
 * another project. Within a project the longest first, or a random order under `--sequence.shuffle`.
 */
import { createHash } from "node:crypto";
import { BaseSequencer, type TestSpecification } from "vitest/node";

export class ProjectSequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const { shuffle, seed } = this.ctx.config.sequence;
    if (shuffle !== true) return sorted;
    const key = ({ project, moduleId }: TestSpecification): string =>
      project.name + createHash("sha256").update(`${seed} ${moduleId}`).digest("hex");
    return sorted.toSorted((a, b) => (key(a) < key(b) ? -1 : 1));
  }
}
