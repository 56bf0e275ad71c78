/** A process that fuzzes one target; its supervisor ends it if an input does not end. */
import { Fuzzer } from "./fuzzer.ts";
import { type ChildMessage, type ChildRequest, CurrentInput, ownFailure } from "./messages.ts";
import { targets } from "./targets.ts";

process.on("disconnect", () => process.exit(1));

process.once("message", (request: ChildRequest) => {
  fuzz(request).then(
    () => process.exit(0),
    (error: unknown) => {
      console.error(error);
      process.exit(ownFailure);
    },
  );
});

async function fuzz({ current: path, ...options }: ChildRequest): Promise<void> {
  const target = await targets[options.target]!();
  const open = await target.open();
  const current = new CurrentInput(path);
  await tell({ kind: "ready" });
  const fuzzer = new Fuzzer(target, open, options, {
    begin: (input) => current.write(input),
    failed: ({ input, key, message, stack }) =>
      void tell({ kind: "failed", failure: { key, message, stack }, input: Buffer.from(input).toString("base64") }),
    progress: (progress) => void tell({ kind: "progress", progress }),
  });
  await fuzzer.run();
  await open.close?.();
  await tell({ kind: "done" });
}

function tell(message: ChildMessage): Promise<void> {
  return new Promise((resolve) => process.send!(message, () => resolve()));
}
