import { type ProxyFailure, proxyAdvice } from '../network/tunnel.ts';
import { type Finding, failure, outage } from './finding.ts';

/** A proxy that refuses does so until its rules change, or the credentials. */
export function proxyFinding(what: string, where: string, { code, message }: ProxyFailure): Finding {
  const isRefusal = code === 'EPROXYAUTH' || code === 'EPROXYREFUSED';
  return (isRefusal ? failure : outage)(what, `${where}: ${message}`, proxyAdvice[code]);
}
