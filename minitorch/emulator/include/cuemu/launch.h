/* launch.h -- what `kernel<<<...>>>(...)` and `__shared__` were rewritten to. */
#ifndef CUEMU_LAUNCH_H
#define CUEMU_LAUNCH_H

namespace cuemu
{

/* Classes that C++ passes by reference to a copy, which the caller destroys. */
template <class T>
constexpr bool by_reference = std::is_class<T>::value && !(std::is_trivially_copy_constructible<T>::value &&
                                                           std::is_trivially_move_constructible<T>::value &&
                                                           std::is_trivially_destructible<T>::value);
template <class T> using passed = typename std::conditional<by_reference<T>, T &, T>::type;

/* A kernel's arguments, copied at the launch. call() gives each thread a bytewise copy, because a GPU runs neither copy
 * constructors nor destructors for them. Accesses to them are not traced: on a GPU they are in the constant bank. */
template <class... T> struct pack;
template <> struct pack<> {
    CUEMU_UNTRACED void list(void **)
    {
    }
    template <class F, class... Done> CUEMU_UNTRACED void call(F &kernel, Done &...done)
    {
        kernel(done...);
    }
};
template <class Head, class... Tail> struct pack<Head, Tail...> {
    Head head;
    pack<Tail...> tail;
    pack(const Head &h, const Tail &...t) : head(h), tail{ t... }
    {
    }
    CUEMU_UNTRACED void list(void **at)
    {
        *at = (void *)&head;
        tail.list(at + 1);
    }
    template <class F, class... Done> CUEMU_UNTRACED void call(F &kernel, Done &...done)
    {
        if constexpr (by_reference<Head>) {
            alignas(Head) char copy[sizeof(Head)];
            __builtin_memcpy(copy, (const void *)&head, sizeof head);
            tail.call(kernel, done..., *(Head *)copy);
        } else {
            tail.call(kernel, done..., head);
        }
    }
};

template <class F, class... T> struct bound {
    F kernel;
    pack<T...> arguments;
    CUEMU_UNTRACED static void run(void *self)
    {
        bound *b = (bound *)self;
        b->arguments.call(b->kernel);
    }
    CUEMU_UNTRACED static void *copy(const void *self)
    {
        return new bound(*(const bound *)self);
    }
    CUEMU_UNTRACED static void drop(void *self)
    {
        delete (bound *)self;
    }
    CUEMU_UNTRACED static void list(void *self, void **at)
    {
        ((bound *)self)->arguments.list(at);
    }
    static constexpr cuemu_arguments kind = { run, copy, drop, list, sizeof...(T) };
};

/* One launch. run() takes a function, and converts the arguments as a call of it would; call() takes anything
 * callable. */
struct launch_site {
    cuemu_launch_config config;
    launch_site(const char *kernel, const char *file, int line, dim3 grid, dim3 block, size_t shared = 0,
                cudaStream_t stream = 0)
        : config{ grid, block, shared, stream, nullptr, kernel, file, line, nullptr, nullptr, 0, nullptr }
    {
    }
    template <class... P> cudaError_t run(void (*kernel)(P...), same<P>... arguments)
    {
        config.entry = (const void *)kernel;
        return call((void (*)(passed<P>...))kernel, static_cast<same<P>>(arguments)...);
    }
    template <class F, class... T> cudaError_t call(F kernel, T... arguments)
    {
        bound<F, T...> b{ kernel, { arguments... } };
        config.run = bound<F, T...>::run;
        config.args = &b;
        config.kind = &bound<F, T...>::kind;
        return (cudaError_t)cuemu_launch(&config);
    }
    template <class... P, size_t... I>
    cudaError_t run_with(void (*kernel)(P...), void **arguments, std::index_sequence<I...>)
    {
        (void)arguments;
        return run(kernel, *(typename std::remove_reference<P>::type *)arguments[I]...);
    }
};

/* cudaLaunchKernel and cudaLaunchCooperativeKernel; the translator adds the kernel's name and removes a cast of it. */
template <bool COOPERATIVE, class... P>
cudaError_t launch_kernel(const char *name, const char *file, int line, void (*kernel)(P...), dim3 grid, dim3 block,
                          void **arguments, size_t shared = 0, cudaStream_t stream = 0)
{
    launch_site site(name, file, line, grid, block, shared, stream);
    site.config.cooperative = COOPERATIVE;
    return site.run_with(kernel, arguments, std::index_sequence_for<P...>());
}

/* The address of a kernel, from which a graph can launch it: the translator writes this for `(void *)kernel`. */
template <class... P> struct kernel_kind {
    typedef void (*entry)(passed<P>...);
    typedef bound<entry, typename std::decay<P>::type...> arguments;
    template <size_t... I> static void *bind(const void *kernel, void **at, std::index_sequence<I...>)
    {
        (void)at;
        return new arguments{ (entry)kernel, { *(typename std::remove_reference<P>::type *)at[I]... } };
    }
    static void *bind(const void *kernel, void **at)
    {
        return bind(kernel, at, std::index_sequence_for<P...>());
    }
};
template <class... P> void *kernel_address(const char *name, void (*kernel)(P...))
{
    const cuemu_kernel known = { (const void *)kernel, name, &kernel_kind<P...>::arguments::kind,
                                 kernel_kind<P...>::bind };
    cuemu_know_kernel(&known);
    return (void *)kernel;
}

/* A variable with the name of a kernel. */
template <class T> void *kernel_address(const char *, T *variable)
{
    return (void *)variable;
}

template <class T> constexpr size_t alignment(size_t asked)
{
    return asked > alignof(T) ? asked : alignof(T);
}

/* `__shared__ T name;` at namespace scope: converts to the block's variable where it is used. */
template <class T> struct shared_object {
    cuemu_shared_array *array;
    operator T &() const
    {
        return *(T *)cuemu_shared(array, sizeof(T), alignof(T));
    }
    T *operator&() const
    {
        return (T *)cuemu_shared(array, sizeof(T), alignof(T));
    }
    template <class U> T &operator=(const U &value) const
    {
        return (T &)*this = value;
    }
};

/* `extern __shared__ T name[];` at namespace scope: a pointer that is looked up where it is used. */
template <class T> struct dynamic_shared {
    operator T *() const
    {
        return (T *)cuemu_dynamic_shared();
    }
    template <class U> explicit operator U *() const
    {
        return (U *)cuemu_dynamic_shared();
    }
};

} // namespace cuemu

#endif
