/** `network.tls_allowlist`: the hosts that may use a self-signed certificate, or one for another host name. Every
 *  other fault is an error, for example an expired certificate.
 *  Not here: connecting (http-client.ts). Reference: docs/reference/behaviour/metadata.md. */
import type { TlsAllowEntry } from '../metadata/schema/policy.ts';

/** True when the certificate of this host may be self-signed. */
export type TrustsSelfSigned = (url: URL) => boolean;

/** The codes of OpenSSL and Node for the accepted faults. */
const SELF_SIGNED: ReadonlySet<string> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'ERR_TLS_CERT_ALTNAME_INVALID',
]);

/** True when an entry allows the host of the URL. `suffix` is a port; without it any port is allowed. An entry
 *  without permissions grants `self-signed`, the only permission there is. */
export function isTrusted(entries: readonly TlsAllowEntry[], url: URL): boolean {
  const port = url.port || '443';
  return entries.some(
    ({ host, suffix, permissions }) =>
      host.toLowerCase() === url.hostname &&
      (suffix === undefined || suffix === port) &&
      (permissions?.includes('self-signed') ?? true),
  );
}

export function isAllowedFault(code: string): boolean {
  return SELF_SIGNED.has(code);
}
