/** The tasks on pictures and sound of one runtime, whose code is imported at the first of them. */
import { ByteBudget } from "../../concurrency/byte-budget.ts";
import { parseSize } from "../../runtime/options/size.ts";
import { runtimeDefaults } from "../../runtime/options/runtime-options.ts";
import type { ModelRuntime } from "../../runtime/model-runtime.ts";
import type { RuntimeSettings } from "../../runtime/options/runtime-settings.ts";
import type { TokenizerCache } from "../../tasks/encoding/tokenizer-cache.ts";
import type { MediaTasks } from "./media-tasks.ts";

/** Returns the tasks, which are made once. Throws CONFIG_INVALID for a `maxPictureMemory` that is no size. */
export function lazyMedia(
  runtime: ModelRuntime,
  tokenizers: TokenizerCache,
  { maxPictureMemory = runtimeDefaults.maxPictureMemory }: Pick<RuntimeSettings, "maxPictureMemory">,
): () => Promise<MediaTasks> {
  const pictures = new ByteBudget(parseSize(maxPictureMemory));
  let tasks: Promise<MediaTasks> | undefined;
  return () => (tasks ??= import("./media-tasks.ts").then(({ MediaTasks }) => new MediaTasks(runtime, tokenizers, pictures)));
}
