// What ThreadSanitizer takes for a race and is none. Part of each program that is built with it.

// The name that it looks for. The C library locks its time zone by means that it does not see, OpenSSL shows by such
// means that it has read the extensions of a certificate, and cpp-httplib hands connections to the threads of the
// servers of tests by such means.
extern "C" const char* __tsan_default_suppressions() {
  return "race:tzset_internal\n"
         "race:ASN1_STRING_cmp\n"
         "race:httplib::ThreadPool::worker\n";
}
