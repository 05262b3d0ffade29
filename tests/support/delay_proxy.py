#!/usr/bin/env python3
"""A TCP proxy that adds a delay to each direction, for benchmarks and tests on the loopback.

Prints the port it listens on, then serves until SIGTERM or SIGINT. Every piece of a stream arrives `--delay-ms` after
it was sent, the end of the stream too; pieces travel at the same time, so throughput stays. The kernel answers the
client's connect() at once; so that connecting costs a round trip all the same, what the client sends during the first
round trip counts as sent at its end.
"""

import argparse
import asyncio
import signal
import sys
import time

PIECE_BYTES = 256 * 1024
PIECES_IN_FLIGHT = 512  # per direction: past it the sender has to wait, as on a full line


async def carry(reader, writer, delay, open_at):
    """Moves one direction of a connection until its end; what is sent before `open_at` counts as sent then."""
    line = asyncio.Queue(PIECES_IN_FLIGHT)

    async def receive():
        piece = b"..."
        while piece:
            piece = await reader.read(PIECE_BYTES)
            await line.put((max(time.monotonic(), open_at) + delay, piece))

    async def deliver():
        while True:
            due, piece = await line.get()
            wait = due - time.monotonic()
            if wait > 0:
                await asyncio.sleep(wait)
            if not piece:
                break
            writer.write(piece)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()

    tasks = [asyncio.ensure_future(receive()), asyncio.ensure_future(deliver())]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()


async def connect_to(target):
    if target.startswith("unix:"):
        return await asyncio.open_unix_connection(target[len("unix:"):], limit=PIECE_BYTES)
    host, port = target.rsplit(":", 1)
    return await asyncio.open_connection(host.strip("[]"), int(port), limit=PIECE_BYTES)


async def serve_connection(client_reader, client_writer, target, delay):
    accepted = time.monotonic()
    writers = [client_writer]
    directions = []
    try:
        server_reader, server_writer = await connect_to(target)
        writers.append(server_writer)
        directions = [
            asyncio.ensure_future(carry(client_reader, server_writer, delay, accepted + 2 * delay)),
            asyncio.ensure_future(carry(server_reader, client_writer, delay, accepted)),
        ]
        await asyncio.gather(*directions)
    except OSError:
        pass  # either side hung up: the other one sees its connection end
    finally:
        for direction in directions:
            direction.cancel()
        for writer in writers:
            writer.close()


async def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--listen", type=int, default=0, metavar="PORT", help="port on 127.0.0.1 (default: a free one)")
    parser.add_argument("--to", required=True, metavar="HOST:PORT", help="where to forward to; or unix:PATH")
    parser.add_argument("--delay-ms", type=float, default=15, help="delay of each direction (default 15)")
    options = parser.parse_args()

    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)

    connections = set()

    async def accept(reader, writer):
        task = asyncio.current_task()
        connections.add(task)
        task.add_done_callback(connections.discard)
        try:
            await serve_connection(reader, writer, options.to, options.delay_ms / 1000)
        except asyncio.CancelledError:
            pass  # we are about to exit

    server = await asyncio.start_server(accept, "127.0.0.1", options.listen, limit=PIECE_BYTES, backlog=512)
    print(server.sockets[0].getsockname()[1], flush=True)
    await stop.wait()
    server.close()
    for task in list(connections):
        task.cancel()
    await asyncio.gather(*connections, return_exceptions=True)


if __name__ == "__main__":
    asyncio.run(main())
    sys.exit(0)
