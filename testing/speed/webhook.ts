/** A webhook that answers at once, as a process of its own so that its CPU does not count. In: requests to /event and /quote. Out: its
 *  port as the first message to its parent, and the number of events so far as the answer to each message. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

let events = 0;
const server = createServer({ keepAliveTimeout: 600_000 }, (request, response) => {
  const answer = request.url === '/event' ? '{}' : '{"price":0.99,"currency":"EUR"}';
  if (request.url === '/event') events++;
  request.resume();
  request.on('end', () => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': answer.length });
    response.end(answer);
  });
});
server.listen(0, '127.0.0.1', () => process.send!((server.address() as AddressInfo).port));
process.on('message', () => process.send!(events));
process.on('disconnect', () => process.exit());
