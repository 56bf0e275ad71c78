export interface SiteServer {
  readonly url: string;
  close(): Promise<void>;
}

export function serve(
  site: string,
  options?: { readonly models?: string; readonly isolated?: boolean; readonly port?: number },
): Promise<SiteServer>;
