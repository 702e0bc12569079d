// First, since libevent's headers define _GNU_SOURCE, and what these declare would then differ from what Swift knows.
#include <sys/select.h>
#include <sys/types.h>

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/bufferevent_ssl.h>
#include <event2/event.h>
#include <event2/event_struct.h>
#include <event2/listener.h>
#include <event2/thread.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>

// Variadic, so Swift cannot call it: names the calling thread where tools list threads.
static inline void thread_set_name(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }
