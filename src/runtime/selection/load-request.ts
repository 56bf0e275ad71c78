/** What one load requests. */
import type { UserLoadSettings } from "../../kernels/native-settings.ts";
import type { ModelKind } from "../../hosts/host-name.ts";

/** Requested settings of one load, except its placement constraints. */
export interface LoadRequest {
  /** Name or alias of a variant. Default: the first variant that the backend can run. */
  readonly variant?: string;
  /** Interface of the model. Default: "tensor". */
  readonly kind?: ModelKind | undefined;
  readonly settings: UserLoadSettings;
  /**
   * Names of settings that are set for this load or this model, not for the whole runtime. A model on which such a setting has no effect is refused.
   * Default: none.
   */
  readonly own?: readonly (keyof UserLoadSettings)[];
  /** Weight formats that the kernels in the setting `kernels` multiply. Present if `kernels` is set. */
  readonly kernelFormats?: readonly string[];
}
