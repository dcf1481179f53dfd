// How whoever waits for the store stops waiting.
//
// Threads: any method, any thread, any time.

#ifndef POSENC_SERVER_TABLES_STORE_FETCH_TICKET_H_
#define POSENC_SERVER_TABLES_STORE_FETCH_TICKET_H_

namespace posenc {

// Ends the wait of one request. Copyable; Cancel may be called from any thread, any number of times,
// after the request is done too. A build that nobody waits for any more is dropped before it starts.
class FetchTicket {
 public:
  virtual ~FetchTicket() = default;
  virtual void Cancel() = 0;
};

}  // namespace posenc

#endif  // POSENC_SERVER_TABLES_STORE_FETCH_TICKET_H_
