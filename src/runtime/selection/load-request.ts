/** What one load requests. */
import type { LoadSettings } from "../../contract/load-settings.ts";
import type { ModelKind } from "../../hosts/host-name.ts";

/** What one load requests besides its placement constraints. */
export interface LoadRequest {
  /** Name or alias of a variant. Default: the first variant that the backend can run. */
  readonly variant?: string;
  /** What the model is loaded as. Default: "tensor". */
  readonly kind?: ModelKind | undefined;
  readonly settings: LoadSettings;
  /** Names of the settings that are set for this load or for its model alone, and not for the whole runtime: a model that they do not concern is refused. Default: none. */
  readonly own?: readonly (keyof LoadSettings)[];
  /** Formats of weights that the kernels of the setting `kernels` multiply. Set if it is. */
  readonly kernelFormats?: readonly string[];
}
