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
#include <sys/socket.h>
#include <sys/uio.h>

// Variadic, so Swift cannot call it: names the calling thread where tools list threads.
static inline void thread_set_name(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }

// Sends two pieces by one call, never raising SIGPIPE.
static inline ssize_t socket_send_two(int descriptor, const void *first, size_t first_count, const void *second,
                                      size_t second_count) {
    struct iovec pieces[2] = {{(void *)first, first_count}, {(void *)second, second_count}};
    struct msghdr message = {.msg_iov = pieces, .msg_iovlen = 2};
    return sendmsg(descriptor, &message, MSG_NOSIGNAL);
}

// Declared by <sys/socket.h> only under _GNU_SOURCE.
extern int accept4(int, struct sockaddr *, socklen_t *, int);

// Accepts one connection; the socket neither blocks nor reaches programs that are started.
static inline int socket_accept(int listener, struct sockaddr_storage *address, socklen_t *count) {
    return accept4(listener, (struct sockaddr *)address, count, SOCK_NONBLOCK | SOCK_CLOEXEC);
}
