/** Is loaded into an attacked process before its own code, so that nothing it does leaves the machine: names below `metadata.test` have the
 *  addresses of metadata services, at once or from the second look-up on, and every connection to an address that is not on this machine is
 *  appended to a file and made to a port of this machine where nobody listens, after the process has decided about the address.
 *  In: PERGOLA_TEST_CONNECTIONS, the file. */
import dns from 'node:dns';
import { appendFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';

const file = process.env['PERGOLA_TEST_CONNECTIONS'];
const METADATA = { address: '169.254.169.254', family: 4 };
/** Of a network for documentation: nobody has it. */
const OUTSIDE = { address: '192.0.2.1', family: 4 };
const seen = new Set();

const { lookup } = dns;
dns.lookup = (host, options, callback) => {
  if (!String(host).endsWith('metadata.test')) return lookup(host, options, callback);
  const isFirst = !seen.has(host);
  seen.add(host);
  const found = host.startsWith('changing.') && isFirst ? OUTSIDE : METADATA;
  const answer = typeof options === 'function' ? options : callback;
  setImmediate(() => (options?.all ? answer(null, [found]) : answer(null, found.address, found.family)));
};
syncBuiltinESMExports();

const NOBODY = ['127.0.0.1', 1];

const { connect } = net.Socket.prototype;
net.Socket.prototype.connect = function (...given) {
  // Is emitted before the handle connects.
  this.on('connectionAttempt', (address) => {
    if (/^(127\.|::1$|::ffff:127\.)/.test(address)) return;
    appendFileSync(file, `${address}\n`);
    const handle = this._handle;
    const dial = handle.connect;
    handle.connect = handle.connect6 = (request) => dial.call(handle, request, ...NOBODY);
  });
  return connect.apply(this, given);
};
